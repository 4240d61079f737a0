import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { readJson } from "../../app/requests/read-json.js";
import { Refusal } from "../refusal.js";

/** Accepts only JSON in UTF-8, without compression. */
export function installJsonBody(app: FastifyInstance, { depthMax }: { depthMax: number }): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // The digest of a signed request covers these bytes.
    request.rawBody = body as Buffer;
    const reading = parse(request, body as Buffer, depthMax);
    if (reading instanceof Refusal) done(reading);
    else done(null, reading);
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const encoding = request.headers["content-encoding"];
    // The body of a GET is ignored.
    if (encoding === undefined || encoding === "identity" || request.method === "GET") done();
    else done(new Refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The body must not be compressed." }));
  });
}

function parse(request: FastifyRequest, body: Buffer, depthMax: number): unknown {
  const charsets = (request.headers["content-type"] ?? "").matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi);
  for (const [, charset] of charsets) {
    if (charset?.toLowerCase() !== "utf-8") return new Refusal("UNSUPPORTED_MEDIA_TYPE");
  }
  // A route with a body schema refuses an absent body by that schema; one without accepts an empty body.
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) return new Refusal("MALFORMED_JSON", { message: "The body is not valid UTF-8." });
  const reading = readJson(body.toString("utf8"), depthMax);
  return "fault" in reading ? new Refusal("MALFORMED_JSON", { message: reading.fault }) : reading.value;
}
