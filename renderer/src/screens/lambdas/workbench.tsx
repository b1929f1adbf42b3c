import { useMutation } from '@tanstack/react-query';
import { Play, Save } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { recordPath } from '../../api/resource-kinds.ts';
import type { PlatformRecord } from '../../api/world.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor, DiffEditor } from '../../parts/code-editor.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { Badge } from '../../parts/state.tsx';
import { toast } from '../../parts/toasts.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { codeOf, sourceOf } from './code-text.ts';
import { Outcome, type RunResult } from './outcome.tsx';

/** The payload of the CRM integration's web form. */
const WEB_FORM = JSON.stringify(
  {
    payload: {
      firstName: 'Ada',
      lastName: 'Lovelace',
      company: 'Analytical Engines',
      phone: '+44 20 0000 0000',
      email: 'ada@example.com',
      title: 'Programmer',
      size: '10',
      message: 'Please call me back',
    },
  },
  null,
  2,
);

/** Code, an event to try it with, and what came of it. Ctrl/Cmd-Enter runs. */
export function Workbench({ lambda }: { lambda: PlatformRecord }) {
  const { properties } = lambda;
  const stored = sourceOf(properties.code);
  const [source, setSource] = useState(stored);
  const [event, setEvent] = useState(() => keptEvent(lambda.id) ?? (isWebForm(properties.env) ? WEB_FORM : '{}'));
  const [isReviewing, setReviewing] = useState(false);
  const isInline = String(properties.code_type).toLowerCase() !== 'package';
  const isDirty = isInline && source !== stored;

  // Somebody else saved it: follow, unless there is something to lose.
  const wasStored = useRef(stored);
  useEffect(() => {
    if (source === wasStored.current) setSource(stored);
    wasStored.current = stored;
  }, [stored, source]);

  const saving = useMutation({
    mutationFn: () =>
      send('PATCH', `/meta${recordPath(lambda)}`, [
        { op: 'test', path: '/properties/code', value: properties.code },
        { op: 'replace', path: '/properties/code', value: codeOf(source) },
      ]),
    onSuccess: () => {
      setReviewing(false);
      toast({ tone: 'ok', text: `${lambda.name} was saved.` });
      void queryClient.invalidateQueries({ queryKey: [keys.world] });
    },
  });
  const running = useMutation({
    mutationFn: async () => {
      keepEvent(lambda.id, event);
      // Parsed and sent as JSON; the editor has marked what cannot be.
      return send<RunResult>(
        'POST',
        `/inspect/lambdas/${lambda.id}/invoke`,
        event.trim() === '' ? undefined : JSON.parse(event),
      );
    },
    onSettled: () => void queryClient.invalidateQueries({ queryKey: [keys.invocations] }),
  });
  const run = () => running.mutate();
  useKeys([{ keys: 'mod+enter', does: 'Run the lambda', run }]);

  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="truncate text-[14px]">{lambda.name}</h2>
        <Badge>{String(properties.runtime)}</Badge>
        <Badge>handler {String(properties.handler)}</Badge>
        <span className="ml-auto flex items-center gap-2">
          <PlaceLink to={{ screen: 'invocations', search: { q: `lambda:${lambda.id}` } }}>Invocations</PlaceLink>
          <PlaceLink to={{ screen: 'resources', id: lambda.id }}>Resource</PlaceLink>
          <Button icon={Save} isDisabled={!isDirty} onPress={() => setReviewing(true)}>
            Save
          </Button>
          <Button icon={Play} look="primary" isPending={running.isPending} isDisabled={isDirty} onPress={run}>
            {running.isPending ? 'Running ...' : isDirty ? 'Save to run' : 'Run'}
          </Button>
        </span>
      </div>
      <div className="min-h-0 flex-[3] border-b border-line">
        {isInline ? (
          <CodeEditor
            label={`Code of ${lambda.name}`}
            value={source}
            onChange={setSource}
            language="javascript"
            onSubmit={run}
          />
        ) : (
          <p className="p-4 text-muted">
            Its code is a package at <code>{String(properties.package_url)}</code>.
          </p>
        )}
      </div>
      <div className="grid min-h-0 flex-[2] grid-cols-2">
        <section aria-label="Test event" className="flex min-h-0 flex-col border-r border-line">
          <h3 className="eyebrow flex items-center justify-between border-b border-line px-3 py-1">
            Test event
            <Button look="quiet" onPress={() => setEvent(WEB_FORM)}>
              Web form
            </Button>
          </h3>
          <div className="min-h-0 flex-1">
            <CodeEditor label="Test event as JSON" value={event} onChange={setEvent} language="json" onSubmit={run} />
          </div>
        </section>
        <section aria-label="Console" className="min-h-0 overflow-auto" aria-live="polite">
          <h3 className="eyebrow border-b border-line px-3 py-2">Console</h3>
          {running.error && (
            <div className="p-3">
              <FailureNote failure={failureOf(running.error)} />
            </div>
          )}
          {running.data ? (
            <Outcome result={running.data} />
          ) : (
            !running.error && <p className="p-3 text-muted">Run it to see its log, its calls and its result.</p>
          )}
        </section>
      </div>
      <Dialog
        title={`Save the code of ${lambda.name}`}
        isOpen={isReviewing}
        onClose={() => setReviewing(false)}
        width="large"
        actions={
          <>
            <Button onPress={() => setReviewing(false)}>Back</Button>
            <Button look="primary" isPending={saving.isPending} onPress={() => saving.mutate()}>
              Save
            </Button>
          </>
        }
      >
        <div className="h-96 overflow-hidden rounded-md border border-line">
          <DiffEditor label="What changes in the code" before={stored} after={source} language="javascript" />
        </div>
        {saving.error && (
          <div className="mt-3">
            <FailureNote failure={failureOf(saving.error)} />
          </div>
        )}
      </Dialog>
    </div>
  );
}

function isWebForm(env: unknown): boolean {
  return typeof env === 'object' && env !== null && 'CRM_OID' in env;
}

const eventKey = (id: string) => `terrarium.event.${id}`;

function keptEvent(id: string): string | undefined {
  try {
    return localStorage.getItem(eventKey(id)) ?? undefined;
  } catch {
    return undefined;
  }
}

function keepEvent(id: string, event: string): void {
  try {
    localStorage.setItem(eventKey(id), event);
  } catch {
    // Storage is full or forbidden: the event holds until the page is closed.
  }
}
