import { useEffect, useState } from "react";
import { Problem } from "./problem";

/** What the page shows would be recorded as something else. */
export const notAsShown = new Error(
  "What this page shows is not what the service would record as approved. It can be rejected, and not approved. Tell your operator.",
);

interface ShownDigest {
  value: string | undefined;
  error: unknown;
}

/** The digest of what is shown, computed after it is in the document. */
export function useShownDigest(compute: () => Promise<string>, key: string): ShownDigest {
  const [found, setFound] = useState<{ key: string; value?: string; error?: unknown }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when there is something else to compute
  useEffect(() => {
    let isCurrent = true;
    compute().then(
      (value) => isCurrent && setFound({ key, value }),
      (error: unknown) => isCurrent && setFound({ key, error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return found?.key === key
    ? { value: found.value, error: found.error }
    : { value: undefined, error: undefined };
}

interface DigestComparisonProps {
  shown: ShownDigest;
  expected: string;
  isSame: boolean;
}

/** Whether the service would record the approval of what is shown. */
export function DigestComparison({ shown, expected, isSame }: DigestComparisonProps) {
  return (
    <>
      <p className="small" role="status">
        {shown.value === undefined &&
          shown.error === undefined &&
          "Comparing what is shown with the service."}
        {isSame &&
          "What is shown above is what the service has recorded, and what your passkey signs. Digest: "}
        {isSame && <code className="wrap-anywhere">{expected}</code>}
      </p>
      {shown.error !== undefined && <Problem error={shown.error} />}
      {shown.value !== undefined && !isSame && (
        <div className="notice" data-tone="bad" role="alert">
          <p>{notAsShown.message}</p>
          <p className="small wrap-anywhere">
            Shown here <code>{shown.value}</code>, the service's <code>{expected}</code>
          </p>
        </div>
      )}
    </>
  );
}
