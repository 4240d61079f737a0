/** Whether a list such as `gzip, br;q=0.5` contains an encoding, or `*`, with a weight other than 0. */
export function namesEncoding(header: string | string[] | undefined, encoding: "br" | "gzip"): boolean {
  return String(header ?? "")
    .split(",")
    .some((entry) => {
      const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
      if (name !== encoding && name !== "*") return false;
      return !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    });
}
