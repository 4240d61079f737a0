import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { whenAnswered } from "../quotas/concurrency-gate.js";

declare module "fastify" {
  interface FastifyRequest {
    progress: "open" | "answered" | "closed" | "reported";
  }
}

type Report = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Reports every request once, when its response is sent or its client has disconnected. Fastify's `onResponse` hook does not run for a
 * client that disconnects first: it could try what it is not allowed to do without a line in the log. One listener serves all reports.
 */
export interface Outcomes {
  /** Starts to follow a request. */
  follow: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Adds a function that is called once for each request. */
  onOutcome: (report: Report) => void;
}

export function installOutcomes(app: FastifyInstance): Outcomes {
  const reports: Report[] = [];
  app.decorateRequest("progress", "open");

  function reportOnce(request: FastifyRequest, reply: FastifyReply): void {
    if (request.progress === "reported") return;
    request.progress = "reported";
    for (const report of reports) report(request, reply);
  }

  // The status is known now. If the client has disconnected, no further event follows.
  app.addHook("onSend", (request, reply, payload, done) => {
    if (request.progress === "closed") reportOnce(request, reply);
    else if (request.progress === "open") request.progress = "answered";
    done(null, payload);
  });

  return {
    follow: (request, reply) => {
      if (request.raw.socket.destroyed) {
        request.progress = "closed";
        return;
      }
      whenAnswered(request, reply, () => {
        // A handler can take over the connection and write the response itself.
        if (request.progress === "answered" || reply.raw.writableFinished) reportOnce(request, reply);
        else request.progress = "closed";
      });
    },
    onOutcome: (report) => {
      reports.push(report);
    },
  };
}
