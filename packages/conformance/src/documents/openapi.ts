import { isObject } from "../http/reply.js";
import { type Document, resolve } from "./find-document.js";

type Node = Record<string, unknown>;

const nodeAt = (document: Document, parent: unknown, name: string): Node | undefined => {
  const value = isObject(parent) && Object.hasOwn(parent, name) ? resolve(document, parent[name]) : undefined;
  return isObject(value) ? value : undefined;
};

/** The operation of a path such as `/v1/transactions/{id}`, whatever its parameter is named, and whether or not the server has the prefix. */
export function findOperation(document: Document, method: string, path: string): Node | undefined {
  const paths = document["paths"];
  if (!isObject(paths)) return undefined;
  const bare = (text: string) => text.replace(/\{[^}]*\}/g, "{}").replace(/\/$/, "");
  const prefixes = ["", ...serverPaths(document)];
  const found = Object.keys(paths).find((own) =>
    prefixes.some((prefix) => bare(prefix.replace(/\/$/, "") + own) === bare(path)),
  );
  return found === undefined
    ? undefined
    : nodeAt(document, nodeAt(document, paths, found), method.toLowerCase());
}

function serverPaths({ servers }: Document): string[] {
  const urls = Array.isArray(servers) ? servers.filter(isObject).map(({ url }) => String(url)) : [];
  return urls.flatMap((url) =>
    URL.canParse(url, "http://server/") ? [new URL(url, "http://server/").pathname] : [],
  );
}

/** The response that is declared for a status, also as a range (`4XX`) or by default. */
export function findResponse(document: Document, operation: Node, status: number): Node | undefined {
  const responses = operation["responses"];
  const names = [String(status), `${Math.floor(status / 100)}XX`, `${Math.floor(status / 100)}xx`, "default"];
  for (const name of names) {
    const found = nodeAt(document, responses, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function listStatuses(operation: Node): string {
  return Object.keys(isObject(operation["responses"]) ? operation["responses"] : {}).join(", ") || "none";
}

/** The schema of a JSON body; undefined if none is declared. */
export function schemaOf(document: Document, holder: Node): unknown {
  const content = holder["content"];
  if (!isObject(content)) return undefined;
  const type = Object.keys(content).find((name) => /^(application\/([\w.-]+\+)?json|\*\/\*)/i.test(name));
  return type === undefined ? undefined : nodeAt(document, content, type)?.["schema"];
}

/** The parameter of an operation. */
export function findParameter(document: Document, operation: Node, name: string): Node | undefined {
  return listParameters(document, operation).find(
    (one) => one["in"] === "header" && String(one["name"]).toLowerCase() === name.toLowerCase(),
  );
}

export function listParameters(document: Document, operation: Node): Node[] {
  const list = operation["parameters"];
  return (Array.isArray(list) ? list : []).map((one) => resolve(document, one)).filter(isObject);
}

/** The request that announces an event, as the `webhooks` of OpenAPI 3.1 have it. */
export function findWebhook(document: Document, name: string): Node | undefined {
  return nodeAt(document, nodeAt(document, document["webhooks"], name), "post");
}

/** In upper snake case; a single word counts only if it is marked as code. */
const codePattern = /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|(?<=`)[A-Z][A-Z0-9]+(?=`)/g;

/**
 * The error codes that a response lists: values of `error.code` in its schema and its examples, and words in upper snake case in its
 * description. Undefined if it lists none.
 */
export function listCodes(document: Document, response: Node): Set<string> | undefined {
  const codes = new Set<string>(String(response["description"] ?? "").match(codePattern) ?? []);
  const schema = resolve(document, schemaOf(document, response));
  for (const code of codesOfSchema(document, schema)) codes.add(code);
  const content = isObject(response["content"]) ? Object.values(response["content"]) : [];
  for (const media of content.filter(isObject)) {
    const examples = isObject(media["examples"])
      ? Object.values(media["examples"]).map((one) => resolve(document, one))
      : [];
    const values = [media["example"], ...examples.filter(isObject).map(({ value }) => value)];
    for (const value of values) {
      const error = isObject(value) ? value["error"] : undefined;
      if (isObject(error) && typeof error["code"] === "string") codes.add(error["code"]);
    }
  }
  return codes.size === 0 ? undefined : codes;
}

/** Through `allOf`, `anyOf` and `oneOf`, as deep as documents go. */
function codesOfSchema(document: Document, schema: unknown, depth = 0): string[] {
  const node = resolve(document, schema);
  if (!isObject(node) || depth > 5) return [];
  const error = nodeAt(document, node["properties"], "error");
  const code = error === undefined ? undefined : nodeAt(document, error["properties"], "code");
  const own = code === undefined ? [] : [code["const"], ...(Array.isArray(code["enum"]) ? code["enum"] : [])];
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((name) => (Array.isArray(node[name]) ? node[name] : []));
  return [
    ...own.filter((one): one is string => typeof one === "string"),
    ...parts.flatMap((part) => codesOfSchema(document, part, depth + 1)),
  ];
}
