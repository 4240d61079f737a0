import { proofs } from "./proofs.mjs";

/**
 * The environment variables that give a proof its sizes.
 * @param {import("./proofs.mjs").Proof} proof @param {"short" | "long"} form @param {Record<string, string | undefined>} given
 * @returns {Record<string, string>}
 */
export function sizesOf({ sizes }, form, given = {}) {
  return Object.fromEntries(
    Object.entries(sizes).flatMap(([name, size]) => {
      const value = given[name] ?? size[form]?.toString();
      return value === undefined ? [] : [[size.env, value]];
    }),
  );
}

/** The short sizes of all proofs; a size that is set in the environment takes precedence. @returns {Record<string, string>} */
export function shortSizes() {
  const short = Object.assign({}, ...Object.values(proofs).map((proof) => sizesOf(proof, "short")));
  return Object.fromEntries(Object.entries(short).map(([env, value]) => [env, process.env[env] ?? value]));
}
