// Compares two OpenAPI documents and lists what a client of the older one can no longer rely on. What a request may contain must not
// become narrower, and what a response promises must not become weaker. New routes, new optional request fields, and new fields and
// enum values of responses are additions.
import { schemaChanges } from "./schema-changes.mjs";

/** @typedef {Record<string, any>} Json */

/**
 * @param {Json} older
 * @param {Json} newer
 * @returns {string[]} one sentence for each change
 */
export function findBreakingChanges(older, newer) {
  return Object.entries(older["paths"]).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      const now = newer["paths"][path]?.[method];
      if (now === undefined) return [`${name} is gone`];
      return operationChanges(operation, now, older, newer).map((change) => `${name}: ${change}`);
    }),
  );
}

/**
 * @param {Json} was
 * @param {Json} is
 * @param {Json} older
 * @param {Json} newer
 */
function operationChanges(was, is, older, newer) {
  return [
    ...scopeChanges(was, is),
    ...parameterChanges(was, is, older, newer),
    ...bodyChanges(was, is, older, newer),
    ...responseChanges(was, is, older, newer),
  ];
}

/**
 * @param {Json} was
 * @param {Json} is
 */
function scopeChanges(was, is) {
  const [before, after] = [was, is].map((operation) => JSON.stringify(operation["security"] ?? []));
  return before === after ? [] : [`it requires ${after} instead of ${before}`];
}

/**
 * @param {Json} was
 * @param {Json} is
 * @param {Json} older
 * @param {Json} newer
 */
function parameterChanges(was, is, older, newer) {
  const named = (/** @type {Json} */ operation) =>
    new Map(
      (operation["parameters"] ?? []).map((/** @type {Json} */ one) => [
        `${one["in"]} parameter ${one["name"]}`,
        one,
      ]),
    );
  const [before, after] = [named(was), named(is)];
  const changed = [...before].flatMap(([name, parameter]) => {
    const now = after.get(name);
    if (now === undefined) return [`the ${name} is gone`];
    const required =
      now.required === true && parameter.required !== true ? [`the ${name} is now required`] : [];
    const world = { older, newer, side: /** @type {const} */ ("request") };
    return [...required, ...schemaChanges(parameter.schema, now.schema, `the ${name}`, world)];
  });
  const added = [...after].flatMap(([name, parameter]) =>
    parameter.required === true && !before.has(name) ? [`the ${name} is new and required`] : [],
  );
  return [...changed, ...added];
}

/**
 * @param {Json} was
 * @param {Json} is
 * @param {Json} older
 * @param {Json} newer
 */
function bodyChanges(was, is, older, newer) {
  const after = is["requestBody"]?.content ?? {};
  if (was["requestBody"] === undefined)
    return is["requestBody"]?.required === true ? ["a body is now required"] : [];
  return Object.entries(was["requestBody"].content).flatMap(([type, { schema }]) => {
    if (after[type] === undefined) return [`it no longer accepts ${type}`];
    return schemaChanges(schema, after[type].schema, "body", { older, newer, side: "request" });
  });
}

/**
 * Only successful responses are compared: all routes share one error body, and a route may gain errors.
 *
 * @param {Json} was
 * @param {Json} is
 * @param {Json} older
 * @param {Json} newer
 */
function responseChanges(was, is, older, newer) {
  return Object.entries(was["responses"])
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([status, answer]) => {
      const now = is["responses"][status];
      if (now === undefined) return [`it no longer answers with ${status}`];
      return Object.entries(answer.content ?? {}).flatMap(([type, { schema }]) => {
        const after = now.content?.[type];
        if (after === undefined) return [`its ${status} is no longer ${type}`];
        return schemaChanges(schema, after.schema, `response ${status}`, { older, newer, side: "response" });
      });
    });
}
