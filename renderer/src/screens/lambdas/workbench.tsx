import { Bug, Play, Save } from 'lucide-react';
import { useEffect, useState } from 'react';
import { answered, ask, DEBUGGED_TIMEOUT_MS } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import type { PlatformRecord } from '../../api/use-world.ts';
import { Time } from '../../components/amount.tsx';
import { durationText } from '../../components/amounts.ts';
import { Button } from '../../components/button.tsx';
import { DiffEditor } from '../../components/code-editor.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Badge } from '../../components/state.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { announce } from '../../components/toasts.tsx';
import { useHasDraft } from '../../draft-store.ts';
import { useKeys } from '../../keys/use-keys.ts';
import { useCommands } from '../../shell/commands.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { storedText, storeText } from '../../stored-text.ts';
import { useSearch } from '../../url.ts';
import { CodeTab, isPackage } from './code-tab.tsx';
import { ConsolePane } from './console-pane.tsx';
import { DebugTab } from './debug-tab.tsx';
import { variableDrafts } from './drafts.ts';
import { EndpointsTab } from './endpoints-tab.tsx';
import { EnvironmentTab } from './environment-tab.tsx';
import { EventPane } from './event-pane.tsx';
import { addRun, type Run } from './runs.ts';
import { SaveCodeDialog } from './save-dialog.tsx';
import { type CodeDraftState, useCodeDraft } from './use-code-draft.ts';
import { useWorkbench } from './use-workbench.ts';
import { firstEventOf } from './web-form.ts';

/** Code, an event to try it with, and what came of it. Ctrl/Cmd-Enter runs, Ctrl/Cmd-S saves. */
export function Workbench({ lambda }: { lambda: PlatformRecord }) {
  const { properties } = lambda;
  const [{ tab, run: isToRun }, change] = useSearch();
  const workbench = useWorkbench(lambda.id);
  // The last edited event in this browser; named events are stored by the platform.
  const eventPlace = `terrarium.event.${lambda.id}`;
  const [event, setEvent] = useState(() => storedText(eventPlace) ?? firstEventOf(lambda));
  const [isReviewing, setReviewing] = useState<'save' | 'run' | 'compare'>();
  const draft = useCodeDraft(lambda.id, properties.code);
  const link = workbench.state.data?.link;
  const { debug, schedule } = workbench.state.data ?? {};
  const isDirty = !isPackage(lambda) && link === undefined && draft.isDirty;
  const running = useRun(lambda.id, debug !== undefined);

  const changeEvent = (next: string) => {
    setEvent(next);
    storeText(eventPlace, next);
  };
  const runNow = (code = properties.code) => {
    if (!running.isPending) running.mutate({ event, code });
  };
  // A version that another user saved is reviewed first.
  const review = (change: 'save' | 'run') => {
    draft.send();
    setReviewing(draft.isOutdated ? 'compare' : change);
  };
  const run = () => (isDirty ? review('run') : runNow());
  const save = () => isDirty && review('save');
  useKeys([
    { keys: 'mod+enter', does: 'Run the lambda', run },
    { keys: 'mod+s', does: 'Save the code', run: save },
  ]);

  // From the palette, once the page is there.
  const isReady = workbench.state.data !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each time that it is asked for
  useEffect(() => {
    if (isToRun === undefined || !isReady) return;
    change({ run: undefined });
    run();
  }, [isToRun, isReady]);
  useCommands([
    { id: 'run it', text: `Run ${lambda.name}`, icon: Play, run },
    { id: 'save it', text: `Save the code of ${lambda.name}`, icon: Save, run: save },
  ]);

  const isEnvChanged = useHasDraft(variableDrafts, lambda.id);
  const tabs = [
    {
      id: 'code',
      title: isDirty ? 'Code (changed)' : 'Code',
      content: (
        <CodeTab
          lambda={lambda}
          draft={draft}
          onRun={run}
          onCompare={() => setReviewing('compare')}
          workbench={workbench}
        />
      ),
    },
    {
      id: 'env',
      title: isEnvChanged ? 'Environment (changed)' : 'Environment',
      content: <EnvironmentTab lambda={lambda} />,
    },
    { id: 'endpoints', title: 'Endpoints', content: <EndpointsTab lambda={lambda} event={event} /> },
    {
      id: 'debug',
      title: debug ? 'Debug (on)' : 'Debug',
      content: <DebugTab name={lambda.name} workbench={workbench} />,
    },
  ];
  return (
    <div className="flex shrink-0 grow flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="truncate text-title" title={lambda.name}>
          {lambda.name}
        </h2>
        <Badge>{String(properties.runtime)}</Badge>
        <Badge>handler {String(properties.handler)}</Badge>
        {schedule && (
          <span className="text-muted">
            {schedule.nextAt ? (
              <>
                runs next <Time at={schedule.nextAt} as="day" />
              </>
            ) : (
              'not run on schedule: lambdas.periodic is off'
            )}
          </span>
        )}
        <span className="ml-auto flex items-center gap-2">
          <PlaceLink to={{ screen: 'invocations', search: { q: `lambda:${lambda.id}` } }}>Invocations</PlaceLink>
          <PlaceLink to={{ screen: 'resources', id: lambda.id }}>Resource</PlaceLink>
          <Button icon={Save} needs="lambda.update" isDisabled={!isDirty} onPress={save}>
            Save
          </Button>
          <Button
            icon={debug ? Bug : Play}
            look="primary"
            needs={isDirty ? 'lambda.update' : 'lambda.invoke'}
            isPending={running.isPending}
            onPress={run}
          >
            {running.isPending ? 'Running ...' : isDirty ? 'Save and run' : 'Run'}
          </Button>
        </span>
      </div>
      <div className="flex h-0 min-h-72 shrink-0 grow-3 flex-col border-b border-line">
        <Tabs
          label="Parts of the lambda"
          tabs={tabs}
          value={tab ?? 'code'}
          onChange={(next) => change({ tab: next === 'code' ? undefined : next })}
        />
      </div>
      <div className="grid h-0 min-h-60 shrink-0 grow-2 grid-cols-2 grid-rows-[minmax(0,1fr)] max-sm:min-h-120 max-sm:grid-cols-1 max-sm:grid-rows-2">
        <EventPane
          event={event}
          isOwnEvent={storedText(eventPlace) !== undefined}
          onChange={changeEvent}
          onRun={run}
          workbench={workbench}
        />
        <ConsolePane
          lambdaId={lambda.id}
          code={properties.code}
          error={running.error}
          waitsFor={running.isPending ? (debug ? 'running; it may be paused at a breakpoint' : 'running') : undefined}
        />
      </div>
      {isReviewing === 'compare' && (
        <OvertakenDialog name={lambda.name} draft={draft} onClose={() => setReviewing(undefined)} />
      )}
      {(isReviewing === 'save' || isReviewing === 'run') && (
        <SaveCodeDialog
          lambda={lambda}
          draft={draft}
          isRun={isReviewing === 'run'}
          onClose={() => setReviewing(undefined)}
          onSaved={(code) => {
            const isRun = isReviewing === 'run';
            setReviewing(undefined);
            if (isRun) runNow(code);
          }}
        />
      )}
    </div>
  );
}

/** Shows the saved version of another user beside the draft, to choose one. Nothing is saved here. */
function OvertakenDialog({ name, draft, onClose }: { name: string; draft: CodeDraftState; onClose(): void }) {
  const settle = (change: () => void) => () => {
    change();
    onClose();
  };
  return (
    <Dialog
      title={`Conflicting changes to the code of ${name}`}
      onClose={onClose}
      width="large"
      closing="Decide later"
      foot={
        <Button look="danger" onPress={settle(draft.discard)}>
          Discard mine, show theirs
        </Button>
      }
      action="Keep mine"
      onAction={settle(() => draft.rebase())}
    >
      <p className="mb-3 text-muted">
        Someone else saved this lambda while you were editing. The comparison shows their version on the left and yours
        on the right. If you keep yours, you can review the changes again before saving.
      </p>
      <div className="h-96 overflow-hidden rounded-md border border-line">
        <DiffEditor label="From theirs to mine" before={draft.stored} after={draft.source} language="javascript" />
      </div>
    </Dialog>
  );
}

/** Runs the lambda with an event, given as text, with the `code` that it then has; what came of it is added to its runs. */
function useRun(lambdaId: string, isDebugged: boolean) {
  return useChange(
    async ({ event, code }: Pick<Run, 'event' | 'code'>) => {
      const answer = await ask('POST', `/inspect/lambdas/${lambdaId}/invoke`, {
        // The editor has marked the invalid JSON; the message of the parser is shown.
        body: event.trim() === '' ? undefined : JSON.parse(event),
        ...(isDebugged && { timeoutMs: DEBUGGED_TIMEOUT_MS }),
      });
      const result = answered(answer);
      const { outcome, durationMs } = result;
      announce(
        `The run ended: ${outcome.ok ? 'ok' : (outcome.message ?? outcome.failure)}, ${durationText(durationMs)}`,
      );
      addRun(lambdaId, { atMs: Date.now(), event, code, result });
    },
    { topic: keys.invocations },
  );
}
