/**
 * A CDX server as one who knows contents: by URL, and by digest where a server for that is named too. What it answers is
 * claimed: its bytes are out of reach. It is asked over the network, so that answers take time and may fail.
 */
import { ArchiveError, formatDigestValue, parseDigest } from "../base/index.ts";
import type { Certainty, KnownCapture, KnownContents, KnownQuestion } from "../dedup/index.ts";
import { newestIn, recordIn } from "./cdx-answer.ts";
import { type GetOptions, nameOf, PatientGet } from "./patient-get.ts";

/** How a server is asked for the last captures of a URL. */
export type CdxDialect = "wayback" | "outbackcdx" | "pywb";

export interface CdxServerOptions extends GetOptions {
  /** Where it answers to `?url=`: `http://localhost:8080/myindex`, `https://web.archive.org/cdx/search/cdx`. */
  readonly url: string;
  readonly dialect?: CdxDialect | undefined;
  /** Where a server answers to `/DIGEST?uri=`, as Doppelganger does under `/api/records`. */
  readonly recordsUrl?: string | undefined;
  /** Of a question that the server refuses, or answers with too much: it counts as unknown. */
  readonly onRefusal?: ((error: ArchiveError) => void) | undefined;
}

/** The last ones: a server that does not filter may answer with revisits among them. */
const LINE_COUNT = 5;

const QUERIES: Readonly<Record<CdxDialect, readonly (readonly [string, string])[]>> = {
  wayback: [
    ["limit", String(-LINE_COUNT)],
    ["filter", "!mimetype:warc/revisit"],
  ],
  outbackcdx: [
    ["sort", "reverse"],
    ["limit", String(LINE_COUNT)],
    ["filter", "!mimetype:warc/revisit"],
  ],
  pywb: [
    ["sort", "reverse"],
    ["limit", String(LINE_COUNT)],
    ["filter", "!=mime:warc/revisit"],
    ["output", "json"],
  ],
};

/** Servers refuse longer ones, and no index has them. */
const URI_SIZE_MAX = 8000;

type Answered = KnownCapture | undefined;

export class CdxServerContents implements KnownContents {
  readonly answers: ReadonlySet<KnownQuestion["by"]>;
  private readonly cdxUrl: URL;
  private readonly recordsUrl: URL | undefined;
  private readonly dialect: CdxDialect;
  private readonly getter: PatientGet;
  private readonly onRefusal: (error: ArchiveError) => void;

  /** HT_USAGE for what is not the URL of a server. */
  constructor({ url, dialect = "wayback", recordsUrl, onRefusal = () => {}, ...options }: CdxServerOptions) {
    this.cdxUrl = serverUrl(url);
    this.recordsUrl = recordsUrl === undefined ? undefined : serverUrl(recordsUrl);
    this.dialect = dialect;
    this.onRefusal = onRefusal;
    this.getter = new PatientGet(options);
    this.answers = new Set<KnownQuestion["by"]>(recordsUrl === undefined ? ["url"] : ["url", "digest"]);
  }

  /** HT_PEER_UNAVAILABLE, HT_BUSY or HT_FORBIDDEN where the server does not answer: then no question is answered. */
  async find(questions: readonly KnownQuestion[]): Promise<readonly Answered[]> {
    const answers = new Array<Answered>(questions.length);
    const stop = new AbortController();
    let next = 0;
    const failures: unknown[] = [];
    const work = async () => {
      while (next < questions.length && failures.length === 0) {
        const at = next++;
        try {
          answers[at] = await this.answer(questions[at]!, stop.signal);
        } catch (error) {
          failures.push(error);
          stop.abort();
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(questions.length, this.getter.countMax) }, work));
    if (failures.length > 0) throw failures[0];
    return answers;
  }

  prove({ certainty }: KnownCapture): Certainty {
    return certainty;
  }

  private async answer(question: KnownQuestion, signal: AbortSignal): Promise<Answered> {
    const { uri } = question;
    if (uri.length > URI_SIZE_MAX) return undefined;
    if (question.by === "url") {
      const url = new URL(this.cdxUrl);
      url.searchParams.set("url", uri);
      // A URL that ends in a star must not be taken for all that begin like it.
      url.searchParams.set("matchType", "exact");
      for (const [name, value] of QUERIES[this.dialect]) url.searchParams.append(name, value);
      const answer = await this.get(url, this.dialect === "pywb", signal);
      return answer === undefined ? undefined : newestIn(answer, uri);
    }
    const digest = question.by === "digest" ? askedDigest(question.digests) : undefined;
    if (this.recordsUrl === undefined || digest === undefined) return undefined;
    const url = new URL(this.recordsUrl);
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${digest.value}`;
    url.searchParams.set("uri", uri);
    const answer = await this.get(url, true, signal);
    return answer === undefined ? undefined : recordIn(answer, digest.text);
  }

  /** Absent where nothing is known, or the question is refused. `isUnknown404` says that 404 means "not known". */
  private async get(url: URL, isUnknown404: boolean, signal: AbortSignal): Promise<string | undefined> {
    try {
      const { status, text } = await this.getter.get(url, signal);
      if (status === 200) return text;
      if (status === 204 || (status === 404 && isUnknown404)) return undefined;
      throw refusal(url, status);
    } catch (error) {
      if (!(error instanceof ArchiveError) || !PASSED_OVER.has(error.code)) throw error;
      this.onRefusal(error);
      return undefined;
    }
  }
}

/** They concern one question, not the server. */
const PASSED_OVER: ReadonlySet<string> = new Set(["HT_TOO_LARGE", "HT_USAGE"]);

function refusal(url: URL, status: number): ArchiveError {
  const name = nameOf(url);
  const message = `${name}: the server answers ${status}`;
  if (status === 400 || status === 414) return new ArchiveError("HT_USAGE", message, { file: name });
  if (status === 401 || status === 403) return new ArchiveError("HT_FORBIDDEN", message, { file: name });
  return new ArchiveError("HT_PEER_UNAVAILABLE", `${message}; is this the address of its index?`, { file: name });
}

/** What crawlers ask by: a sha1, or else the first that there is. */
function askedDigest(digests: readonly string[]): { readonly text: string; readonly value: string } | undefined {
  const text = digests.find((each) => each.startsWith("sha1:")) ?? digests[0];
  const digest = text === undefined ? undefined : parseDigest(text);
  return digest && { text: text!, value: formatDigestValue(digest) };
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new ArchiveError("HT_USAGE", `not the URL of a server: ${text}`);
  url.hash = "";
  return url;
}
