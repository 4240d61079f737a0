import { Field } from "../forms/field";

interface ChoiceFilterProps<Option extends string> {
  label: string;
  value: Option | undefined;
  options: readonly Option[];
  onChange: (value: Option | undefined) => void;
}

/** One of a few values, or all. */
export function ChoiceFilter<Option extends string>({
  label,
  value,
  options,
  onChange,
}: ChoiceFilterProps<Option>) {
  return (
    <Field label={label}>
      {(props) => (
        <select
          {...props}
          className="input"
          value={value ?? ""}
          onChange={({ target }) => onChange(options.find((option) => option === target.value))}
        >
          <option value="">All</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {wordsOf(option)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** The name of an event, such as `change_request.updated`, stays as receivers know it. */
function wordsOf(option: string): string {
  return option.includes(".") ? option : option.replaceAll("_", " ");
}
