import { BursarError } from "@bursar/client";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { adviceOfService } from "../../generated/error-advice";
import { adviceOf } from "./advice";
import { Problem } from "./problem";

const shown = (error: unknown) => renderToStaticMarkup(createElement(Problem, { error }));
const failed = (code: string, more: object = {}) =>
  new BursarError({ code, message: "It was refused.", outcome: "refused", attempts: 1, ...more });

describe("an error", () => {
  it("has the sentence, the code, the id of the request, what to do, and a link to the documentation", () => {
    const html = shown(failed("OVERLOADED", { status: 503, requestId: "req_1" }));
    for (const part of ["It was refused.", "<code>OVERLOADED</code>", "<code>req_1</code>"])
      expect(html).toContain(part);
    expect(html).toContain(
      "<p>The service is busy. Try again in a moment; nothing that you typed is lost.</p>",
    );
    expect(html).toContain('href="/docs/reference/errors#OVERLOADED"');
  });

  it("names the command that the operator runs as a command", () => {
    expect(shown(failed("CLIENT_TAMPERED", { status: 409 }))).toContain("<code>bursar client restore</code>");
  });

  it("that arises in the browser says what to do, and is not in the documentation of the service", () => {
    const html = shown(failed("CONNECTION_FAILED"));
    expect(html).toContain("Check the network.");
    expect(html).not.toContain("/docs/");
  });

  it("of a newer service has no advice", () => {
    for (const code of ["QUITE_NEW", "toString"]) expect(adviceOf(code)).toBeUndefined();
    expect(shown(failed("QUITE_NEW", { status: 418 }))).toContain("It was refused.");
  });

  it.each(Object.entries(adviceOfService))(
    "%s says what a person does, and not what a program does",
    (_code, advice) => {
      const commands = advice.split("`").filter((_, index) => index % 2 === 1);
      expect(commands.filter((command) => !command.startsWith("bursar "))).toEqual([]);
      expect(advice).toMatch(/[.]$/);
      expect(advice).not.toMatch(/\b(Retry-After|ETag|Idempotency-Key|header|\/v1\/|JSON|token)\b/);
    },
  );
});
