import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import type { DiffEditorProps } from '../editor-props.ts';
import { editorLook, rootIn } from './setup.ts';

const COLLAPSE = { margin: 3, minSize: 6 };

/** The difference of two texts; to be loaded through DiffEditor. */
export function Merge({ label, before, after, language, layout = 'unified' }: DiffEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return undefined;
    const root = rootIn(host.current);
    const extensionsFor = (name: string) => [
      lineNumbers(),
      editorLook(language),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ 'aria-label': name, tabindex: '0' }),
    ];
    if (layout === 'sides') {
      const sides = new MergeView({
        parent: root,
        root,
        a: { doc: before, extensions: extensionsFor(`${label}: before`) },
        b: { doc: after, extensions: extensionsFor(`${label}: after`) },
        collapseUnchanged: COLLAPSE,
      });
      return () => sides.destroy();
    }
    const merged = unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: COLLAPSE });
    const editor = new EditorView({ parent: root, root, doc: after, extensions: [extensionsFor(label), merged] });
    return () => editor.destroy();
  }, [label, before, after, language, layout]);
  return <div ref={host} className="h-full min-h-0 overflow-auto" />;
}
