/** The oldest Node that Bursar runs on. The syntax of this file is one that older versions can read. */
const nodeMin = { major: 20, minor: 19 };

/** Ends the process with one sentence if Node is too old; imported before anything that an old version could not load. */
export function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > nodeMin.major || (major === nodeMin.major && minor >= nodeMin.minor)) return;
  console.error(
    `bursar: Bursar needs Node ${nodeMin.major}.${nodeMin.minor} or newer; this is ${process.versions.node}.`,
  );
  process.exit(1);
}
