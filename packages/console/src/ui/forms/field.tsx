import { type ReactNode, useId } from "react";

interface FieldProps {
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
  children: (props: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ReactNode;
}

/** A label, its control, and what is wrong with the value. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const note = fault ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-describedby": note === undefined ? undefined : `${id}-note`,
        "aria-invalid": fault !== undefined,
      })}
      {note !== undefined && (
        <span id={`${id}-note`} className={fault === undefined ? "quiet small" : "fault"}>
          {note}
        </span>
      )}
    </div>
  );
}
