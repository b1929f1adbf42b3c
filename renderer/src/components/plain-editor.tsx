import type { CodeEditorProps, DiffEditorProps } from './editor-props.ts';

/**
 * A replacement for an editor that could not be loaded because the server just went away. Text written in it is not
 * lost.
 */
export function PlainEditor({ label, value, onChange, isReadOnly, height = '100%' }: CodeEditorProps) {
  return (
    <textarea
      aria-label={label}
      value={value}
      readOnly={isReadOnly || !onChange}
      spellCheck={false}
      onChange={({ target }) => onChange?.(target.value)}
      className="mono w-full resize-none bg-panel p-2"
      style={{ height }}
    />
  );
}

/** A replacement for a comparison that could not be loaded. */
export function PlainDiff({ label, after, language }: DiffEditorProps) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <p className="p-2 text-muted">
        The comparison could not be loaded; this is how it would be. Reload the page to compare.
      </p>
      <PlainEditor label={label} value={after} language={language} isReadOnly />
    </div>
  );
}
