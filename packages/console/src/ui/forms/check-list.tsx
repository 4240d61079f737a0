interface CheckListProps {
  legend: string;
  options: readonly string[];
  chosen: readonly string[];
  /** What an option means; it is shown beside it. */
  words?: Readonly<Record<string, string>> | undefined;
  fault?: string | undefined;
  onChange: (chosen: string[]) => void;
}

/** Several of a few words, such as scopes. */
export function CheckList({ legend, options, chosen, words, fault, onChange }: CheckListProps) {
  return (
    <fieldset className="checks">
      <legend>{legend}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={(event) =>
              onChange(
                options.filter((one) => (one === option ? event.target.checked : chosen.includes(one))),
              )
            }
          />{" "}
          {option}
          {words?.[option] !== undefined && <span className="quiet small"> {words[option]}</span>}
        </label>
      ))}
      {fault !== undefined && <span className="fault">{fault}</span>}
    </fieldset>
  );
}
