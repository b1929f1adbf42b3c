import { lazy, Suspense } from 'react';
import type { CodeEditorProps, DiffEditorProps } from './editor-props.ts';
import { PlainDiff, PlainEditor } from './plain-editor.tsx';
import { Skeleton } from './skeleton.tsx';

// If the server disconnects while they load, only the editor fails.
const LazyEditor = lazy(() =>
  import('./editor/code-mirror.tsx').then(
    ({ CodeMirror }) => ({ default: CodeMirror }),
    () => ({ default: PlainEditor }),
  ),
);
const LazyDiff = lazy(() =>
  import('./editor/merge-view.tsx').then(
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
