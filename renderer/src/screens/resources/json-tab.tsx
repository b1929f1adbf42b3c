import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import { jsonIn } from '../../../../server/model/json.ts';
import { bytesText } from '../../parts/amounts.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Copy } from '../../parts/copy.tsx';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import type { Lint } from './json-lint.ts';
import { nearestPlace, placesIn } from './json-places.ts';
import { isEditable } from './resource-patch.ts';
import { isSame } from './three-way-merge.ts';
import { useDraft } from './use-draft.ts';
import type { Schema } from './use-type-schema.ts';

/** Past this a text is only shown: to read, compare and check so much with every key would make typing stutter. */
const MAX_EDITED_CHARS = 1_000_000;

/** The resource as JSON: what the type's schema forbids is marked in its line, and so is what the server complained of. */
export function JsonTab({ schema, errors, ...frame }: EditorProps) {
  const { record } = frame;
  const draft = useDraft(record, schema);
  const { mine, unreadable, set, setUnreadable } = draft;
  const [text, setText] = useState(() => unreadable ?? printed(mine));
  const [fault, setFault] = useState<string>();
  const lint = useLint(schema);

  // What came from elsewhere: the form, a discarded change, somebody else's.
  useEffect(() => {
    if (unreadable !== undefined) return;
    setText((before) => (isSame(jsonIn(before), mine) ? before : printed(mine)));
    setFault(undefined);
  }, [mine, unreadable]);

  const problems = useMemo(() => {
    if (errors.length === 0 || jsonIn(text) === undefined) return NONE;
    const places = placesIn(text);
    return errors.map(({ pointer, message }) => ({
      ...nearestPlace(places, pointer),
      message: `${pointer}: ${message}`,
    }));
  }, [errors, text]);

  const onText = (next: string) => {
    setText(next);
    const value = jsonIn(next);
    if (value === undefined) {
      setFault('This is no JSON yet: see the marked line.');
      setUnreadable(next);
    } else if (isEditable(value)) {
      setFault(undefined);
      set(value);
    } else {
      setFault('A resource is {"name": text, "description"?: text, "properties": {...}}.');
      setUnreadable(next);
    }
  };
  return (
    <EditorFrame
      {...frame}
      draft={draft}
      fault={unreadable === undefined ? undefined : (fault ?? 'This is no JSON yet: see the marked line.')}
    >
      {text.length > MAX_EDITED_CHARS ? (
        <LargeText
          text={text}
          label={`${record.name} as JSON`}
          note={`${bytesText(text.length)} of JSON are too much to edit here, so this is to read only. Short fields can be changed in the form; for the rest send a PATCH.`}
        />
      ) : (
        <CodeEditor
          label={`${record.name} as JSON`}
          value={text}
          onChange={onText}
          language="json"
          problems={problems}
          lint={lint}
        />
      )}
    </EditorFrame>
  );
}

const NONE: readonly [] = [];

/** The check of a type's schema, loaded when an editor is opened. */
function useLint(schema: Schema): Lint | undefined {
  const [lint, setLint] = useState<Lint>();
  useEffect(() => {
    let isWanted = true;
    void import('./json-lint.ts').then(({ lintFor }) => isWanted && setLint(() => lintFor(schema)));
    return () => {
      isWanted = false;
    };
  }, [schema]);
  return lint;
}

function printed(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

const LINE_HEIGHT = 19;
/** What a line shows at most: one may hold megabytes, and a browser lays out every letter of it. */
const MAX_LINE_CHARS = 1000;

/** A text of any size to read: only the lines in sight are drawn, very long ones are cut. */
function LargeText({ text, label, note }: { text: string; label: string; note: string }) {
  const scroller = useRef<HTMLElement>(null);
  const lines = useMemo(() => text.split('\n'), [text]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
  });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex items-center gap-2 border-b border-line bg-raised px-4 py-2" role="note">
        <p className="flex-1">{note}</p>
        <Copy text={text} what="the whole JSON" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable with the keyboard */}
      <section ref={scroller} tabIndex={0} aria-label={label} className="mono min-h-0 flex-1 overflow-auto p-3">
        <div className="relative min-w-fit" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = lines[index] ?? '';
            const cut = line.length - MAX_LINE_CHARS;
            return (
              <div
                key={index}
                className="absolute top-0 left-0 flex whitespace-pre"
                style={{ height: LINE_HEIGHT, transform: `translateY(${start}px)` }}
              >
                <span className="w-14 shrink-0 pr-3 text-right text-faint select-none">{index + 1}</span>
                {cut > 0 ? line.slice(0, MAX_LINE_CHARS) : line}
                {cut > 0 && <span className="ml-2 text-muted">… {cut.toLocaleString('en')} more characters</span>}
              </div>
            );
          })}
        </div>
      </section>
    </div>
  );
}
