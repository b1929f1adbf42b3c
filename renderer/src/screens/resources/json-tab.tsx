import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { jsonIn } from '../../../../server/model/json.ts';
import { bytesText } from '../../parts/amounts.ts';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Copy } from '../../parts/copy.tsx';
import { EditorFrame, type EditorProps } from './editor-frame.tsx';
import { isEditable } from './resource-patch.ts';
import { isSame } from './three-way-merge.ts';
import { useDraft } from './use-draft.ts';

/** Past this a text is only shown: to read, compare and check so much with every key would make typing stutter. */
const MAX_EDITED_CHARS = 1_000_000;

/** The resource as JSON: what the type's schema forbids is marked in its line, and so is what the server complained of. */
export function JsonTab({ schema, errors, ...frame }: EditorProps) {
  const { record } = frame;
  const draft = useDraft(record, schema);
  const { mine, unreadable, set, setUnreadable } = draft;
  const [text, setText] = useState(() => unreadable ?? printed(mine));
  const [fault, setFault] = useState<string>();
  const linting = useQuery({ queryKey: ['lint'], queryFn: () => import('./json-lint.ts') }).data;
  const lint = useMemo(() => linting?.lintFor(schema, errors), [linting, schema, errors]);
  const isLarge = text.length > MAX_EDITED_CHARS;

  // What came from elsewhere: the form, a discarded change, somebody else's.
  useEffect(() => {
    if (unreadable !== undefined) return;
    setText((before) => (isSame(jsonIn(before), mine) ? before : printed(mine)));
    setFault(undefined);
  }, [mine, unreadable]);

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
      <div className="flex h-full min-h-0 flex-col">
        {isLarge && (
          <div className="flex items-center gap-2 border-b border-line bg-raised px-4 py-2" role="note">
            <p className="flex-1">
              {bytesText(text.length)} of JSON are too much to edit here, so this is to read only. Short fields can be
              changed in the form; for the rest send a PATCH.
            </p>
            <Copy text={text} what="the whole JSON" />
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
