import { lazy, Suspense } from 'react';
import type { CodeEditorProps, DiffEditorProps } from './editor-props.ts';
import { Skeleton } from './skeleton.tsx';

// If the server disconnects while they load, only the editor fails.
const LazyEditor = lazy(() =>
  import('./editor/code-mirror.tsx').then(
    ({ CodeMirror }) => ({ default: CodeMirror }),
    () => ({ default: PlainEditor }),
  ),
);
const LazyDiff = lazy(() =>
  import('./editor/merge.tsx').then(
    ({ Merge }) => ({ default: Merge }),
    () => ({ default: PlainDiff }),
  ),
);

/** An editor for code or JSON; loaded on first use. JSON is checked while one types. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton label="Loading the editor" />}>
      <LazyEditor {...props} />
    </Suspense>
  );
}

/** Two texts and what differs, side by side or in one column; to read. Loaded on first use. */
export function DiffEditor(props: DiffEditorProps) {
  return (
    <Suspense fallback={<Skeleton label="Loading the comparison" />}>
      <LazyDiff {...props} />
    </Suspense>
  );
}

/** A replacement for an editor that could not be loaded because the server just went away. Text written in it is not lost. */
function PlainEditor({ label, value, onChange, isReadOnly, height = '100%' }: CodeEditorProps) {
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
function PlainDiff({ label, after, language }: DiffEditorProps) {
  return (
    <div className="flex h-full min-h-0 flex-col">
      <p className="p-2 text-muted">
        The comparison could not be loaded; this is how it would be. Reload the page to compare.
      </p>
      <PlainEditor label={label} value={after} language={language} isReadOnly />
    </div>
  );
}
