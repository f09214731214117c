/** What a survey knows exactly of the files it went over, whatever its sample. Plain numbers, which add up over files. */
export interface SurveyCounts {
  /** Of the inputs as they lie there. */
  bytes: number;
  /** Bytes that had to be fetched from the inputs. */
  bytesRead: number;
  records: number;
  /** Response and resource records: those that hold a payload. */
  responses: number;
  revisits: number;
  /** Responses that may be originals or duplicates, as far as their headers tell. */
  candidates: number;
  candidateBytes: number;
  /** All records, uncompressed, and how much of that was decoded. */
  contentBytes: number;
  decodedBytes: number;
  /** Records that could not be skipped. */
  readThrough: number;
  /** Files with candidates in which nothing can be replaced: ARC files, and entries of WACZ files. */
  arcFiles: number;
  waczFiles: number;
}

export function emptyCounts(): SurveyCounts {
  return {
    bytes: 0,
    bytesRead: 0,
    records: 0,
    responses: 0,
    revisits: 0,
    candidates: 0,
    candidateBytes: 0,
    contentBytes: 0,
    decodedBytes: 0,
    readThrough: 0,
    arcFiles: 0,
    waczFiles: 0,
  };
}

export function addCounts(sum: SurveyCounts, part: SurveyCounts): void {
  for (const name of Object.keys(sum) as (keyof SurveyCounts)[]) sum[name] += part[name];
}
