/** The replay worker: wabac's service worker, served as its authors made it. The program works without it. */

export interface WorkerFile {
  readonly script: Uint8Array;
  readonly version: string;
  /** The text of its licence. */
  readonly licence: string;
}

/** What whoever gets the worker from us must be told. */
export function workerNotice({ version, licence }: WorkerFile): string {
  return `The replay worker, /sw.js on this host, is dist/sw.js of @webrecorder/wabac ${version}, unmodified.
Copyright Webrecorder Software. Licence: GNU Affero General Public License, version 3 or later (below).

Its source:
  https://github.com/webrecorder/wabac.js, version ${version}
  npm pack @webrecorder/wabac@${version}   (src/ in the package)

It contains wombat (https://github.com/webrecorder/wombat), under the same licence.

${licence}
`;
}
