/** How a failed connection is described to the owner of an endpoint, by the code of the error. Other errors are shown by their code. */
const sentences: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was reset",
  UND_ERR_SOCKET: "the connection was closed before the whole answer had arrived",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  ETIMEDOUT: "no connection in time",
  EHOSTUNREACH: "the address cannot be reached",
  ENETUNREACH: "the address cannot be reached",
  ENOTFOUND: "the name has no address",
  ENODATA: "the name has no address",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are too long",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the length of the response differs from its Content-Length",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is by an unknown authority",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is by an unknown authority",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is by an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
};

export function describeFailure(error: Error): string {
  const code = codeOf(error);
  return sentences[code] ?? `the request failed (${code})`;
}

/** Several addresses that all fail come as one error with those of each inside. */
function codeOf(error: Error & { code?: unknown; errors?: unknown; cause?: unknown }): string {
  if (typeof error.code === "string" && error.code !== "") return error.code;
  const [inner] = Array.isArray(error.errors) ? error.errors : [error.cause];
  return inner instanceof Error ? codeOf(inner) : error.name;
}
