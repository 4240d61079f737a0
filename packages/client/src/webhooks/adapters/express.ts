import type { IncomingMessage, ServerResponse } from "node:http";
import type { Receiver } from "../receiver/create-receiver.js";
import { toNodeHandler } from "./node-http.js";

/** The part of an Express application, of version 4 or 5, that the adapter uses. */
export interface ExpressLike {
  post: (path: string, handler: (request: IncomingMessage, response: ServerResponse) => void) => unknown;
}

/**
 * Adds a route to an Express application, in front of everything that was added before it: a body parser, also one for all routes, does not
 * get to read what the signature covers. Throws if the application does not allow that.
 */
export function addToExpress(app: ExpressLike, path: string, receiver: Receiver): void {
  app.post(path, toNodeHandler(receiver));
  const stack = stackOf(app);
  const route = stack?.pop();
  if (route === undefined)
    throw new TypeError(
      "This is no Express application, so the route cannot be put in front of its body parsers. Mount toNodeHandler(receiver) before them instead.",
    );
  stack?.unshift(route);
}

/** The layers of the application's router: `router` in version 5, `_router` in version 4, where reading `router` throws. */
function stackOf(app: object): unknown[] | undefined {
  const { _router: four } = app as { _router?: { stack?: unknown } };
  const stack = four === undefined ? stackOfFive(app) : four.stack;
  return Array.isArray(stack) ? stack : undefined;
}

function stackOfFive(app: object): unknown {
  try {
    return (app as { router?: { stack?: unknown } }).router?.stack;
  } catch {
    return undefined;
  }
}
