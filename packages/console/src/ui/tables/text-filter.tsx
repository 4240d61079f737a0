import { useState } from "react";
import { Field } from "../forms/field";

/** What is typed counts when it is confirmed or left. */
export function TextFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const confirm = () => {
    if (text.trim() !== value) onChange(text.trim());
  };
  return (
    <Field label={label}>
      {(props) => (
        <input
          {...props}
          className="input"
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
          onBlur={confirm}
          onKeyDown={(event) => {
            if (event.key === "Enter") confirm();
          }}
        />
      )}
    </Field>
  );
}

interface TextFiltersProps<Name extends string> {
  names: readonly (readonly [Name, string])[];
  filters: Readonly<Partial<Record<Name, string>>>;
  onChange: (name: Name, value: string) => void;
}

/** Several of them; one that the address changes shows its new value. */
export function TextFilters<Name extends string>({ names, filters, onChange }: TextFiltersProps<Name>) {
  return names.map(([name, label]) => (
    <TextFilter
      key={`${name}=${filters[name] ?? ""}`}
      label={label}
      value={filters[name] ?? ""}
      onChange={(value) => onChange(name, value)}
    />
  ));
}
