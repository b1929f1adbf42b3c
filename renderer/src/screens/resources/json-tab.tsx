import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { jsonIn } from '../../../../server/model/json.ts';
import { bytesText } from '../../components/amounts.ts';
import { CodeEditor } from '../../components/code-editor.tsx';
import { Copy } from '../../components/copy.tsx';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import { isEditable } from './resource-patch.ts';
import { isSame } from './three-way-merge.ts';
import { useDraft } from './use-draft.ts';

/** Longer texts are read-only: parsing, comparing and validating them on every key would delay typing. */
const MAX_EDITED_CHARS = 1_000_000;

/** The resource as JSON, with violations of the type's schema and errors of the server marked in their lines. */
export function JsonTab({ schema, errors, ...frame }: EditorProps) {
  const { record } = frame;
  const draft = useDraft(record, schema);
  const { mine: edited, unreadable, set, setUnreadable } = draft;
  const [text, setText] = useState(() => unreadable ?? printed(edited));
  const [fault, setFault] = useState<string>();
  const linting = useQuery({ queryKey: ['lint'], queryFn: () => import('./json-lint.ts') }).data;
  const lint = useMemo(() => linting?.lintFor(schema, errors), [linting, schema, errors]);
  const isLarge = text.length > MAX_EDITED_CHARS;

  // Changes from elsewhere: the form, a discarded draft, another user.
  useEffect(() => {
    if (unreadable !== undefined) return;
    setText((before) => (isSame(jsonIn(before), edited) ? before : printed(edited)));
    setFault(undefined);
  }, [edited, unreadable]);

  const onText = (next: string) => {
    setText(next);
    const value = jsonIn(next);
    if (value === undefined) {
      setFault('This is not valid JSON: see the marked line.');
      setUnreadable(next);
    } else if (isEditable(value)) {
      setFault(undefined);
      set(value);
    } else {
      setFault('A resource must be {"name": text, "description"?: text, "properties": {...}}.');
      setUnreadable(next);
    }
  };
  return (
    <EditorFrame
      {...frame}
      draft={draft}
      fault={unreadable === undefined ? undefined : (fault ?? 'This is not valid JSON: see the marked line.')}
    >
      <div className="flex h-full min-h-0 flex-col">
        {isLarge && (
          <div className="flex items-center gap-2 border-b border-line bg-raised px-4 py-2" role="note">
            <p className="flex-1">
              {bytesText(text.length)} of JSON are too much to edit here, so the text is read-only. Edit short fields in
              the form; for the rest, send a PATCH.
            </p>
            <Copy text={text} subject="the whole JSON" />
          </div>
        )}
        <CodeEditor
          label={`${record.name} as JSON`}
          value={text}
          {...(isLarge ? { language: 'text', isReadOnly: true } : { language: 'json', onChange: onText, lint })}
        />
      </div>
    </EditorFrame>
  );
}

function printed(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
