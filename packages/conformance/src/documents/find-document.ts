import { parse } from "yaml";
import { expect, fail, NotOffered } from "../engine/check.js";
import type { Kit } from "../engine/kit.js";
import { describeReply, isObject, parseJson, type Reply } from "../http/reply.js";

/** A document in which the target describes itself. */
export type Document = Readonly<Record<string, unknown>>;
export type DocumentKind = "openapi" | "asyncapi";

const documentBytesMax = 4 << 20;
const titles = { openapi: "OpenAPI", asyncapi: "AsyncAPI" } as const;
const majors = { openapi: "3", asyncapi: "3" } as const;

const wellKnownPaths = (kind: DocumentKind) => [
  `/${kind}.json`,
  `/${kind}.yaml`,
  `/v1/${kind}.json`,
  `/.well-known/${kind}.json`,
];

/** The target's document, from the path in the target file or from a well-known one. It is read once in a run. */
export const findDocument = (kit: Kit, kind: DocumentKind): Promise<Document> =>
  kit.fixture(`${titles[kind]} document`, async (own) => {
    const named = own.target.documents[kind];
    const paths = named === undefined ? wellKnownPaths(kind) : [named];
    for (const path of paths) {
      const reply = await own.send("GET", path, { bodyBytesMax: documentBytesMax });
      if (reply.status === 200 && (named !== undefined || isMeant(reply, kind)))
        return readDocument(reply, kind);
      if (named !== undefined) fail(`the ${titles[kind]} document at ${named}`, describeReply(reply));
    }
    throw new NotOffered(
      `The target publishes no ${titles[kind]} document at ${paths.join(", ")}. If it is elsewhere, set documents.${kind} in the target file.`,
    );
  });

/** Websites answer every path with a page, and some services with an error under the status 200. */
function isMeant(reply: Reply, kind: DocumentKind): boolean {
  if (/html/i.test(reply.header("content-type") ?? "")) return false;
  const document = parseDocument(reply.text);
  return isObject(document) ? Object.hasOwn(document, kind) : reply.text.slice(0, 200).includes(kind);
}

function readDocument(reply: Reply, kind: DocumentKind): Document {
  const document = parseDocument(reply.text);
  const version = isObject(document) ? document[kind] : undefined;
  expect(
    isObject(document) && typeof version === "string",
    `JSON or YAML with the member ${kind}`,
    describeReply(reply),
  );
  if (!version.startsWith(`${majors[kind]}.`))
    throw new NotOffered(`The kit reads ${titles[kind]} ${majors[kind]}, and the document is ${version}.`);
  return document;
}

function parseDocument(text: string): unknown {
  if (text.trimStart().startsWith("{")) return parseJson(text);
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** What a local reference points to; other values are returned as they are. Undefined if it points nowhere. */
export function resolve(document: Document, value: unknown): unknown {
  let here = value;
  for (let steps = 0; steps < referencesMax; steps += 1) {
    const reference = isObject(here) ? here["$ref"] : undefined;
    if (typeof reference !== "string") return here;
    here = followPointer(document, reference);
  }
  return undefined;
}

const referencesMax = 20;

function followPointer(document: Document, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let here: unknown = document;
  for (const part of reference.slice(2).split("/")) {
    const name = decodePart(part);
    if (Array.isArray(here)) here = here[Number(name)];
    else if (isObject(here) && Object.hasOwn(here, name)) here = here[name];
    else return undefined;
  }
  return here;
}

function decodePart(part: string): string {
  const text = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
