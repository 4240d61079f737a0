import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { Modal } from "../ui/modal";
import { mayOpen, pages } from "./pages";

interface Hit {
  id: string;
  title: string;
  kind: string;
  open: () => void;
}

/** Finds pages by their name, and objects by their id. */
export function Palette({ scopes, onClose }: { scopes: readonly string[]; onClose: () => void }) {
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const typed = text.trim();
  const hits: Hit[] = pages
    .filter((page) => mayOpen(scopes, page) && page.title.toLowerCase().includes(typed.toLowerCase()))
    .map((page) => ({
      id: page.path,
      title: page.title,
      kind: "page",
      open: () => void navigate({ to: page.path }),
    }));
  if (typed.startsWith("tx_"))
    hits.unshift({
      id: typed,
      title: typed,
      kind: "transaction",
      open: () => void navigate({ to: "/transactions/$id", params: { id: typed } }),
    });
  if (typed.startsWith("wlt_"))
    hits.unshift({
      id: typed,
      title: typed,
      kind: "wallet",
      open: () => void navigate({ to: "/wallets/$id", params: { id: typed } }),
    });
  const current = Math.min(chosen, hits.length - 1);
  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return;
    onClose();
    hit.open();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === "ArrowDown") setChosen(Math.min(current + 1, hits.length - 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(current - 1, 0));
    else if (event.key === "Enter") open(hits[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal title="Find" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="A page, or the id of an object"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={hits[current] === undefined ? undefined : `${list}-${current}`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label="Found" className="hits">
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={hit.id}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            onClick={() => open(hit)}
          >
            <span>{hit.title}</span> <span className="quiet small">{hit.kind}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && <p className="quiet">Nothing has this name or id.</p>}
    </Modal>
  );
}
