/** @type {import("node:module").ResolveHook} */
export const resolve = (specifier, context, next) =>
  next(specifier === "typescript" ? "typescript-5" : specifier, context);
