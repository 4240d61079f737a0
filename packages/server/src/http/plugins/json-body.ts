import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type JsonReading, readJson, readJsonInSlices } from "../../app/requests/read-json.js";
import { Refusal } from "../refusal.js";

/** Accepts only JSON in UTF-8, without compression. */
export function installJsonBody(app: FastifyInstance, { depthMax }: { depthMax: number }): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    // The digest of a signed request covers these bytes.
    request.rawBody = body as Buffer;
    const read = (refusal?: Refusal) => {
      const reading = refusal ?? parse(request, body as Buffer, depthMax);
      if (reading instanceof Refusal) done(reading);
      else if (reading instanceof Promise) reading.then((result) => finish(result, done)).catch(done);
      else finish(reading, done);
    };
    if (request.admitBody === null) read();
    else request.admitBody(body.length, read);
  });
  app.addHook("onRequest", (request, _reply, done) => {
    const encoding = request.headers["content-encoding"];
    // The body of a GET is ignored.
    if (encoding === undefined || encoding === "identity" || request.method === "GET") done();
    else done(new Refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The body must not be compressed." }));
  });
}

/** A larger body is read in slices, so that others are served in between. */
const bytesAtOnce = 65_536;

function parse(
  request: FastifyRequest,
  body: Buffer,
  depthMax: number,
): Refusal | JsonReading | Promise<JsonReading> {
  const charsets = (request.headers["content-type"] ?? "").matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi);
  for (const [, charset] of charsets) {
    if (charset?.toLowerCase() !== "utf-8") return new Refusal("UNSUPPORTED_MEDIA_TYPE");
  }
  // A route with a body schema refuses an absent body by that schema; one without accepts an empty body.
  if (body.length === 0) return { value: undefined };
  if (!isUtf8(body)) return { fault: "The body is not valid UTF-8." };
  const text = body.toString("utf8");
  return body.length > bytesAtOnce ? readJsonInSlices(text, depthMax) : readJson(text, depthMax);
}

function finish(reading: JsonReading, done: (error: Error | null, body?: unknown) => void): void {
  if ("fault" in reading) done(new Refusal("MALFORMED_JSON", { message: reading.fault }));
  else done(null, reading.value);
}
