import { FileCode2 } from 'lucide-react';
import { useState } from 'react';
import type { PlatformRecord } from '../../api/world.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { LinkBar, LinkDialog } from './link-bar.tsx';
import type { useWorkbench } from './use-workbench.ts';

export interface CodeTabProps {
  lambda: PlatformRecord;
  source: string;
  onChange(source: string): void;
  onRun(): void;
  /** Did somebody else save other code while this one was edited? */
  isOvertaken: boolean;
  onTakeOver(): void;
  workbench: ReturnType<typeof useWorkbench>;
}

/** The lambda's code: to be edited here, or in a file that it follows. */
export function CodeTab({ lambda, source, onChange, onRun, isOvertaken, onTakeOver, workbench }: CodeTabProps) {
  const [isLinking, setLinking] = useState(false);
  const { code_type, package_url } = lambda.properties;
  const link = workbench.state.data?.link;
  if (String(code_type).toLowerCase() === 'package') {
    return (
      <p className="p-4 text-muted">
        Its code is a package at <code className="break-all">{String(package_url)}</code>.
      </p>
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col">
      {link ? (
        <LinkBar link={link} workbench={workbench} />
      ) : (
        <div className="flex items-center gap-2 border-b border-line px-4 py-1">
          <span className="text-muted">Inline code, one file.</span>
          {isOvertaken && (
            <span role="alert" className="flex items-center gap-2 text-warn">
              It was saved by somebody else meanwhile.
              <Button onPress={onTakeOver}>Discard mine, show theirs</Button>
            </span>
          )}
          <Button icon={FileCode2} look="quiet" className="ml-auto" onPress={() => setLinking(true)}>
            Link to a file
          </Button>
        </div>
      )}
      <div className="min-h-0 flex-1">
        <CodeEditor
          label={`Code of ${lambda.name}`}
          value={source}
          onChange={onChange}
          language="javascript"
          isReadOnly={link !== undefined}
          onSubmit={onRun}
        />
      </div>
      {isLinking && <LinkDialog workbench={workbench} onClose={() => setLinking(false)} />}
    </div>
  );
}
