import { useState } from 'react';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import type { EditorLanguage } from '../../parts/editor-props.ts';
import type { InvocationDetail } from './use-invocations.ts';
import { useReplay } from './use-replay.ts';

/** The event of an invocation, to be changed before the lambda is given it again. */
export function ReplayDialog({ invocation, onClose }: { invocation: InvocationDetail; onClose(): void }) {
  const { body } = invocation.event;
  const [text, setText] = useState(() => printed(body.text ?? ''));
  const replay = useReplay(invocation, { onDone: onClose });
  // Whatever is typed meanwhile: the editor stays the same.
  const [language] = useState<EditorLanguage>(() => (text === '' || isJsonText(text) ? 'json' : 'text'));
  const run = () => replay.run(isJsonText(text) ? JSON.parse(text) : text);
  return (
    <Dialog
      title={`Replay ${invocation.lambdaName} with another event`}
      onClose={onClose}
      width="medium"
      deed="Replay"
      shortcut="Ctrl Enter"
      onDeed={run}
      making={replay}
    >
      <div className="overflow-hidden rounded-md border border-line">
        <CodeEditor label="Event" value={text} onChange={setText} onSubmit={run} language={language} height="46vh" />
      </div>
      <p className="mt-2 text-muted">
        {body.text?.includes('<hidden>')
          ? 'Values that are hidden here have to be written anew: they are not sent back to the page. '
          : ''}
        It runs in your name, with the headers and parameters of the first call but without its credentials.
      </p>
    </Dialog>
  );
}

function printed(text: string): string {
  return isJsonText(text) ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
