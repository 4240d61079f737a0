import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const router = fileURLToPath(new URL("../../../../console/src/router.tsx", import.meta.url));

/** The paths of the console's router, such as `/wallets/$id`. */
export function routerPaths(): string[] {
  const source = readFileSync(router, "utf8");
  const paths = [...source.matchAll(/^\s*path: "(\/[^"]*)",$/gm)].map(([, path = ""]) => path);
  const routes = source.match(/\bcreateRoute\(/g)?.length ?? 0;
  if (paths.length !== routes) throw new Error(`${routes} routes have ${paths.length} paths`);
  return paths;
}

/** What the last part of a path is called elsewhere, if there is no object of its own name. */
const collections: Readonly<Record<string, string>> = {
  approvals: "transactions",
  webhooks: "webhook-endpoints",
  deliveries: "webhook-deliveries",
};

/** The path with ids of objects, which are named after their collection. A new kind of path fails until there is an object for it. */
export function fillPath(path: string, objects: Readonly<Record<string, string>>): string {
  return path.replace(/([\w-]+)\/\$\w+/g, (_, name: string) => {
    const id = objects[name] ?? objects[collections[name] ?? name];
    if (id === undefined) throw new Error(`the pages' tests need an object of ${name}`);
    return `${name}/${id}`;
  });
}
