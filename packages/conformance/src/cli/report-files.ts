import { accessSync, constants, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Session } from "../engine/session.js";
import { harReport } from "../report/har.js";
import { htmlReport } from "../report/html.js";
import { junitReport } from "../report/junit.js";
import type { Report } from "../report/report.js";
import { UsageFault } from "../target/read-values.js";

/** The files that a run can write, by the option that names them. */
const reportFormats = {
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
  junit: junitReport,
  html: htmlReport,
  har: harReport,
} satisfies Readonly<Record<string, (report: Report, session: Session) => string>>;

type ReportName = keyof typeof reportFormats;
const reportNames = Object.keys(reportFormats) as ReportName[];
type ReportFiles = Readonly<Partial<Record<ReportName, string | undefined>>>;

/** Before the run: a report that cannot be written would be lost after minutes. */
export function refuseUnwritableReports(files: ReportFiles): void {
  for (const name of reportNames) {
    const file = files[name];
    if (file !== undefined) refuseUnwritable(file);
  }
}

export function refuseUnwritable(file: string): void {
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageFault(`${file} cannot be written: there is no folder ${folder}.`);
  const existing = statSync(file, { throwIfNoEntry: false });
  if (existing?.isDirectory()) throw new UsageFault(`${file} cannot be written: it is a folder.`);
  try {
    accessSync(existing === undefined ? folder : file, constants.W_OK);
  } catch (error) {
    throw new UsageFault(`${file} cannot be written: ${describe(error)}.`, { cause: error });
  }
}

export function writeReports(files: ReportFiles, report: Report, session: Session): void {
  for (const name of reportNames) {
    const file = files[name];
    if (file !== undefined) writeText(file, reportFormats[name](report, session));
  }
}

function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageFault(`${file} cannot be written: ${describe(error)}.`, { cause: error });
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));
