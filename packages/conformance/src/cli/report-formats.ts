import type { Session } from "../engine/session.js";
import { harReport } from "../report/har.js";
import { htmlReport } from "../report/html.js";
import { junitReport } from "../report/junit.js";
import type { Report } from "../report/report.js";

/** The files that a run can write, by the option that names them. */
export const reportFormats: Readonly<
  Record<"json" | "junit" | "html" | "har", (report: Report, session: Session) => string>
> = {
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
  junit: junitReport,
  html: htmlReport,
  har: harReport,
};
