/** Why there is no answer to record: the names, and the codes that Heritrix has for them in its crawl.log. */

interface FailureMeaning {
  /** Heritrix's fetch status. */
  readonly status: number;
  readonly meaning: string;
}

const CONNECT_FAILED = -2;
const CONNECT_LOST = -3;
const TIMEOUT = -4;
const NAME_UNRESOLVED = -6;
const UNFETCHABLE = -7;
const BLOCKED_BY_USER = -5001;

export const FAILURES = {
  url: { status: UNFETCHABLE, meaning: "Not a URL that begins with http:// or https://." },
  dns: { status: NAME_UNRESOLVED, meaning: "The host name has no address." },
  "dns-timeout": { status: NAME_UNRESOLVED, meaning: "The host name was not resolved in time." },
  "address-refused": { status: BLOCKED_BY_USER, meaning: "Every address of the host is private or reserved." },
  "connect-failed": { status: CONNECT_FAILED, meaning: "No connection could be made." },
  "connect-timeout": { status: TIMEOUT, meaning: "No connection was made in time." },
  "tls-timeout": { status: TIMEOUT, meaning: "The TLS handshake was not finished in time." },
  "tls-failed": { status: CONNECT_FAILED, meaning: "The TLS handshake failed." },
  "tls-no-http1": { status: CONNECT_FAILED, meaning: "The server speaks no HTTP/1.1 over TLS (alert 120)." },
  "tls-self-signed": { status: CONNECT_FAILED, meaning: "The certificate, or one above it, is self-signed." },
  "tls-expired": { status: CONNECT_FAILED, meaning: "The certificate is expired or not valid yet." },
  "tls-name": { status: CONNECT_FAILED, meaning: "The certificate is for another host name." },
  "tls-untrusted": { status: CONNECT_FAILED, meaning: "The certificate leads to no trusted authority." },
  "no-answer": { status: CONNECT_LOST, meaning: "The connection ended before a byte of the answer came." },
  "answer-timeout": { status: TIMEOUT, meaning: "No byte of the answer came in time." },
} as const satisfies Record<string, FailureMeaning>;

export type FailureCode = keyof typeof FAILURES;

/** Inside of the room: what went wrong, as a value. */
export interface Trouble {
  readonly code: FailureCode;
  readonly message: string;
}

export function trouble(code: FailureCode, detail?: string): Trouble {
  const { meaning } = FAILURES[code];
  return { code, message: detail === undefined ? meaning : `${meaning.slice(0, -1)}: ${detail}` };
}

/** What OpenSSL and Node call a certificate that does not verify. */
const CERTIFICATE_ERRORS: Readonly<Record<string, CertificateFault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls-self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "tls-self-signed",
  CERT_HAS_EXPIRED: "tls-expired",
  CERT_NOT_YET_VALID: "tls-expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls-name",
  HOSTNAME_MISMATCH: "tls-name",
  CERT_CHAIN_TOO_LONG: "tls-untrusted",
  CERT_REJECTED: "tls-untrusted",
  CERT_REVOKED: "tls-untrusted",
  CERT_SIGNATURE_FAILURE: "tls-untrusted",
  CERT_UNTRUSTED: "tls-untrusted",
  INVALID_CA: "tls-untrusted",
  INVALID_PURPOSE: "tls-untrusted",
  PATH_LENGTH_EXCEEDED: "tls-untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "tls-untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls-untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls-untrusted",
};

export type CertificateFault = "tls-self-signed" | "tls-expired" | "tls-name" | "tls-untrusted";

/** By the code of an error, or of a certificate that was taken all the same; absent where it is something else. */
export function certificateFault(code: string): CertificateFault | undefined {
  return CERTIFICATE_ERRORS[code];
}
