import { readPlace, readRequest, UsageFault, type ValueReader } from "./read-values.js";
import type { SignedRequestTarget, StreamTarget, Target } from "./target.js";

/** What a target can offer beyond the contract: its documents, signed requests and a stream. */
export function readDocuments(reader: ValueReader | undefined): Target["documents"] | undefined {
  if (reader === undefined) return undefined;
  const documents = { openapi: readPath(reader, "openapi"), asyncapi: readPath(reader, "asyncapi") };
  reader.end();
  return documents;
}

export function readSignedRequests(reader: ValueReader | undefined): SignedRequestTarget | undefined {
  if (reader === undefined) return undefined;
  const register = readRequest(reader.object("register"), ["public_key", "client_id"]);
  if (register === undefined) throw new UsageFault(`${reader.path}.register is missing.`);
  const signed: SignedRequestTarget = {
    register,
    id: readPlace(reader, "id") ?? "body.id",
    remove: readRequest(reader.object("remove"), ["id", "public_key", "client_id"]),
    covers: reader.texts("covers") ?? ["@method", "@target-uri", "authorization", "content-digest"],
    tag: reader.text("tag"),
  };
  reader.end();
  return signed;
}

export function readStream(reader: ValueReader | undefined): StreamTarget | undefined {
  if (reader === undefined) return undefined;
  const stream: StreamTarget = {
    path: readPath(reader, "path") ?? "/v1/stream",
    protocol: reader.text("protocol"),
    subscribe: reader.members("subscribe") ?? { type: "subscribe", channel: "events" },
    since: reader.text("since") ?? "since",
    subscribed: reader.members("subscribed") ?? { type: "subscribed" },
    event: reader.members("event") ?? { type: "event" },
    sequence: reader.text("sequence") ?? "sequence",
    recovered: reader.text("recovered") ?? "recovered",
  };
  reader.end();
  return stream;
}

function readPath(reader: ValueReader, name: string): string | undefined {
  const path = reader.text(name);
  if (path === undefined || path.startsWith("/")) return path;
  throw new UsageFault(`${reader.path}.${name} must be a path that begins with "/".`);
}
