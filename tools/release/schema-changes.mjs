/** @typedef {Record<string, any>} Schema */
/**
 * @typedef {object} World
 * @property {Schema} older the document that contains the old schema
 * @property {Schema} newer
 * @property {"request" | "response"} side whether the client or the service writes what the schema describes
 */

/** Bounds of a request that must not become tighter. */
const upperBounds = ["maxLength", "maximum", "maxItems", "maxProperties", "exclusiveMaximum"];
const lowerBounds = ["minLength", "minimum", "minItems", "minProperties", "exclusiveMinimum"];

/** Schemas may be recursive; no schema of the API nests deeper than this. */
const depthMax = 24;

/**
 * Lists the changes of a schema that break clients of its older version.
 *
 * @param {Schema} oldSchema
 * @param {Schema} newSchema
 * @param {string} place
 * @param {World} world
 * @param {number} [depth]
 * @returns {string[]}
 */
export function schemaChanges(oldSchema, newSchema, place, world, depth = 0) {
  if (depth > depthMax) return [];
  const was = resolve(oldSchema, world.older);
  const is = resolve(newSchema, world.newer);
  if (variantsOf(was).length > 1 || variantsOf(is).length > 1)
    return variantChanges(was, is, place, world, depth);
  const types = typeChanges(was, is, place, world);
  if (types.length > 0) return types;
  return [
    ...enumChanges(was, is, place, world),
    ...boundChanges(was, is, place, world),
    ...propertyChanges(was, is, place, world, depth),
    ...(was["items"] === undefined
      ? []
      : schemaChanges(was["items"], is["items"] ?? {}, `${place}[]`, world, depth + 1)),
  ];
}

/**
 * @param {Schema} schema
 * @param {Schema} document
 * @returns {Schema}
 */
function resolve(schema, document) {
  const reference = schema["$ref"];
  if (reference === undefined) return schema;
  const parts = String(reference).replace(/^#\//, "").split("/");
  return resolve(
    parts.reduce((/** @type {Schema} */ part, name) => part[name] ?? {}, document),
    document,
  );
}

/**
 * @param {Schema} schema
 * @returns {Schema[]}
 */
function variantsOf(schema) {
  return schema["anyOf"] ?? schema["oneOf"] ?? [schema];
}

/**
 * Every variant that a client may send must still be accepted; every variant that the service may send must have existed before.
 *
 * @param {Schema} was
 * @param {Schema} is
 * @param {string} place
 * @param {World} world
 * @param {number} depth
 */
function variantChanges(was, is, place, world, depth) {
  const [before, after] = [variantsOf(was), variantsOf(is)];
  const fits = (/** @type {Schema} */ one, /** @type {Schema} */ other) =>
    schemaChanges(one, other, place, world, depth + 1).length === 0;
  if (world.side === "request")
    return before.every((one) => after.some((other) => fits(one, other)))
      ? []
      : [`${place} accepts fewer variants`];
  return after.every((other) => before.some((one) => fits(one, other))) ? [] : [`${place} has a new variant`];
}

/**
 * @param {Schema} was
 * @param {Schema} is
 * @param {string} place
 * @param {World} world
 */
function typeChanges(was, is, place, { side }) {
  if (was["type"] === is["type"]) return [];
  const isWider = is["type"] === undefined || (was["type"] === "integer" && is["type"] === "number");
  const isNarrower = was["type"] === undefined || (was["type"] === "number" && is["type"] === "integer");
  if (side === "request" ? isWider : isNarrower) return [];
  return [`${place} changed from ${was["type"] ?? "any type"} to ${is["type"] ?? "any type"}`];
}

/**
 * A new enum value of a response is an addition, which clients are advised to expect.
 *
 * @param {Schema} was
 * @param {Schema} is
 * @param {string} place
 * @param {World} world
 */
function enumChanges(was, is, place, { side }) {
  if (side === "response")
    return was["enum"] !== undefined && is["enum"] === undefined
      ? [`${place} has lost its list of values`]
      : [];
  if (is["enum"] === undefined) return [];
  if (was["enum"] === undefined) return [`${place} accepts only some values`];
  const gone = was["enum"].filter((/** @type {unknown} */ value) => !is["enum"].includes(value));
  return gone.map((/** @type {unknown} */ value) => `${place} no longer accepts ${JSON.stringify(value)}`);
}

/**
 * @param {Schema} was
 * @param {Schema} is
 * @param {string} place
 * @param {World} world
 */
function boundChanges(was, is, place, { side }) {
  if (side === "response") return [];
  const describe = (/** @type {string} */ name) =>
    `${place} has ${name} ${is[name]} instead of ${was[name] ?? "none"}`;
  return [
    ...upperBounds.filter(
      (name) => (is[name] ?? Number.POSITIVE_INFINITY) < (was[name] ?? Number.POSITIVE_INFINITY),
    ),
    ...lowerBounds.filter(
      (name) => (is[name] ?? Number.NEGATIVE_INFINITY) > (was[name] ?? Number.NEGATIVE_INFINITY),
    ),
    ...["pattern", "format"].filter((name) => is[name] !== undefined && is[name] !== was[name]),
  ].map(describe);
}

/**
 * @param {Schema} was
 * @param {Schema} is
 * @param {string} place
 * @param {World} world
 * @param {number} depth
 */
function propertyChanges(was, is, place, world, depth) {
  const [before, after] = [was["properties"] ?? {}, is["properties"] ?? {}];
  const [needed, needs] = [new Set(was["required"] ?? []), new Set(is["required"] ?? [])];
  const changes = Object.entries(before).flatMap(([name, part]) => {
    const field = `${place}.${name}`;
    if (after[name] === undefined) return [`${field} is gone`];
    return schemaChanges(part, after[name], field, world, depth + 1);
  });
  const required =
    world.side === "request"
      ? [...needs].filter((name) => !needed.has(name)).map((name) => `${place}.${name} is now required`)
      : [...needed]
          .filter((name) => !needs.has(name) && after[String(name)] !== undefined)
          .map((name) => `${place}.${name} may now be missing`);
  const isClosed =
    world.side === "request" && is["additionalProperties"] === false && was["additionalProperties"] !== false;
  return [...changes, ...required, ...(isClosed ? [`${place} no longer accepts other fields`] : [])];
}
