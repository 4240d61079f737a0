import type { InputHTMLAttributes, ReactNode, TextareaHTMLAttributes } from "react";
import { Field } from "./field";

interface Labelled {
  label: string;
  hint?: string | undefined;
  fault?: string | undefined;
  value: string;
  onValue: (value: string) => void;
}

type InputProps = Labelled & Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange">;

/** A browser cuts what is pasted beyond `maxLength` without a word, so it gets a much larger one, which only bounds the memory. */
const slack = 50;

/** What is wrong with the length, if the service has found nothing else. */
function lengthFault(value: string, maxLength: number | undefined): string | undefined {
  const length = [...value].length;
  return maxLength === undefined || length <= maxLength
    ? undefined
    : `It has ${length} characters. At most ${maxLength} are allowed.`;
}

/** A line of text with its label and what is wrong with it. */
export function TextField({ label, hint, fault, value, onValue, maxLength, ...input }: InputProps) {
  return (
    <Field
      label={label}
      fault={fault ?? lengthFault(value, maxLength)}
      {...(hint === undefined ? {} : { hint })}
    >
      {(props) => (
        <input
          {...input}
          {...props}
          maxLength={maxLength === undefined ? undefined : maxLength * slack}
          className="input"
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

type AreaProps = Labelled & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "value" | "onChange">;

export function AreaField({ label, hint, fault, value, onValue, maxLength, ...area }: AreaProps) {
  return (
    <Field
      label={label}
      fault={fault ?? lengthFault(value, maxLength)}
      {...(hint === undefined ? {} : { hint })}
    >
      {(props) => (
        <textarea
          {...area}
          {...props}
          maxLength={maxLength === undefined ? undefined : maxLength * slack}
          className="input"
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

type SelectProps = Labelled & { children: ReactNode; required?: boolean };

export function SelectField({ label, hint, fault, value, onValue, children, required }: SelectProps) {
  return (
    <Field label={label} fault={fault} {...(hint === undefined ? {} : { hint })}>
      {(props) => (
        <select
          {...props}
          className="input"
          required={required}
          value={value}
          onChange={(event) => onValue(event.target.value)}
        >
          {children}
        </select>
      )}
    </Field>
  );
}
