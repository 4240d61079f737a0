/** The end of a dialog that only shows something. */
export function CloseRow({ onClose }: { onClose: () => void }) {
  return (
    <div className="row">
      <button type="button" className="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
