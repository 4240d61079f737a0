/**
 * Something that the person who starts the service has to put right: a taken port, a wrong setting of their database, a
 * data folder in use. Its message is one sentence that says what to do; no stack trace is shown for it.
 */
export class OperatorError extends Error {}

/** A file or an argument of a command is wrong, which the parser of arguments cannot see. */
export class InputError extends OperatorError {}

/** A command that took effect, or did not. Its message says how to find out. */
export class UnknownOutcome extends OperatorError {}

/** Reasons for which a file or folder cannot be used, by the code of the error. */
const fileFaults: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it is not a folder",
  ENOTDIR: "it, or something above it, is not a folder",
  EISDIR: "it is a folder",
  ENOENT: "it does not exist",
  ELOOP: "its symbolic links lead nowhere",
  ENAMETOOLONG: "its name is too long",
  EMFILE: "too many files are open",
};

/** Why a file or folder could not be used; undefined if the error is about something else. */
export function explainFileError(error: unknown): { path: string; reason: string } | undefined {
  const { code, path, syscall } = (error ?? {}) as { code?: unknown; path?: unknown; syscall?: unknown };
  if (typeof path !== "string" || typeof code !== "string" || typeof syscall !== "string") return undefined;
  const reason = fileFaults[code];
  return reason === undefined ? undefined : { path, reason };
}
