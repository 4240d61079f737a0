import type { InputHTMLAttributes, ReactNode, TextareaHTMLAttributes } from "react";
import { Field } from "./field";

interface Labelled {
  label: string;
  hint?: string;
  fault?: string | undefined;
  value: string;
  onValue: (value: string) => void;
}

type InputProps = Labelled & Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange">;

/** A line of text with its label and what is wrong with it. */
export function TextField({ label, hint, fault, value, onValue, ...input }: InputProps) {
  return (
    <Field label={label} fault={fault} {...(hint === undefined ? {} : { hint })}>
      {(props) => (
        <input
          {...input}
          {...props}
          className="input"
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}

type AreaProps = Labelled & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "value" | "onChange">;

export function AreaField({ label, hint, fault, value, onValue, ...area }: AreaProps) {
  return (
    <Field label={label} fault={fault} {...(hint === undefined ? {} : { hint })}>
      {(props) => (
        <textarea
          {...area}
          {...props}
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
