import {
  Bug,
  Download,
  FlaskConical,
  GitCompare,
  Link2,
  Pencil,
  RotateCcw,
  ScrollText,
  Terminal,
  X,
} from 'lucide-react';
import { useState } from 'react';
import { curlOf } from '../../api/curl.ts';
import { saveFile } from '../../api/download.ts';
import { OnResource } from '../../api/permissions.tsx';
import { useFailure } from '../../api/use-failures.ts';
import { usePlatformStatus } from '../../api/use-platform-status.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Copy, copyText } from '../../components/copy.tsx';
import { HttpMessage } from '../../components/http-message.tsx';
import { JsonView } from '../../components/json-view.tsx';
import { Menu } from '../../components/menu.tsx';
import { PendingDetail } from '../../components/pending-detail.tsx';
import { Badge, State } from '../../components/state.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useKeys } from '../../keys/use-keys.ts';
import { useCommands } from '../../shell/commands.ts';
import { PlaceLink } from '../../shell/place-link.tsx';
import { useSearch } from '../../url.ts';
import { FaultSource } from '../lambdas/fault-source.tsx';
import { CompareTab } from './compare-tab.tsx';
import { FailureStory } from './failure-story.tsx';
import { capital } from './failure-words.ts';
import { spansOf } from './invocation-spans.ts';
import { EventTab, FactsTab, LogsTab, OutboundTab, ResultTab } from './invocation-tabs.tsx';
import { adviceFor, conditionOf, statusOf } from './invocation-words.ts';
import { DebugDialog, ReplayDialog } from './replay-dialog.tsx';
import { testOf } from './test-text.ts';
import { type InvocationDetail, useInvocation } from './use-invocations.ts';
import { useReplay } from './use-replay.ts';
import { Waterfall } from './waterfall.tsx';

export function InvocationDetailPane({
  id,
  isRunning,
  previousId,
  firstTab,
}: {
  id: string;
  isRunning: boolean;
  /** The previous invocation of the same lambda, to compare with. */
  previousId: string | undefined;
  /** The one that is open until another is chosen. */
  firstTab?: string;
}) {
  const [, change] = useSearch();
  const read = useInvocation(id, !isRunning);
  if (read.data) {
    return (
      <OnResource target={{ id: read.data.lambdaId, name: read.data.lambdaName }}>
        <Detail invocation={read.data} previousId={previousId} firstTab={firstTab} />
      </OnResource>
    );
  }
  return (
    <PendingDetail query={read} onClose={() => change({ sel: undefined })}>
      {isRunning && <p className="px-4 text-muted">It is still running. Its results appear here as soon as it ends.</p>}
    </PendingDetail>
  );
}

function Detail({
  invocation,
  previousId,
  firstTab,
}: {
  invocation: InvocationDetail;
  previousId: string | undefined;
  firstTab: string | undefined;
}) {
  const [{ tab, with: otherId, dialog }, change] = useSearch();
  const setEditing = (isEditing: boolean) => change({ dialog: isEditing ? 'edit' : undefined });
  const [isDebugging, setDebugging] = useState(false);
  const gatewayUrl = usePlatformStatus().data?.addresses.gatewayUrl;
  const replay = useReplay(invocation);
  const { outcome, request, isTruncated } = invocation;
  const compared = otherId ?? invocation.replayOf ?? previousId;
  useKeys([{ keys: 'r', does: 'Replay the invocation', group: 'Lists', run: () => replay.run() }]);
  useCommands([
    { id: 'replay it', text: 'Replay this invocation', icon: RotateCcw, run: () => replay.run() },
    { id: 'edit it', text: 'Replay this invocation with edits', icon: Pencil, run: () => setEditing(true) },
    { id: 'debug it', text: 'Debug this invocation', icon: Bug, run: () => setDebugging(true) },
    {
      id: 'logs of it',
      text: 'Open the logs of this invocation',
      icon: ScrollText,
      run: () => change({ tab: 'logs' }),
    },
  ]);
  const tabs = [
    { id: 'event', title: 'Event', content: <EventTab event={invocation.event} /> },
    { id: 'logs', title: 'Logs', count: invocation.logs.length, content: <LogsTab lines={invocation.logs} /> },
    {
      id: 'outbound',
      title: 'Outbound',
      count: invocation.outbound.length,
      content: <OutboundTab invocation={invocation} />,
    },
    { id: 'result', title: 'Result', content: <ResultTab invocation={invocation} /> },
    ...(request?.response
      ? [
          {
            id: 'answer',
            title: 'Response',
            content: <HttpMessage subject="response" {...withBody(request.response)} />,
          },
        ]
      : []),
    { id: 'facts', title: 'Details', content: <FactsTab invocation={invocation} /> },
    {
      id: 'compare',
      title: 'Compare',
      isFilling: true,
      content: <CompareTab invocation={invocation} otherId={compared} />,
    },
    { id: 'raw', title: 'Raw', content: <JsonView value={invocation} subject="invocation" /> },
  ];
  const shownTab = tab ?? firstTab ?? (outcome.ok ? (invocation.outboundFailures > 0 ? 'outbound' : 'event') : 'logs');
  return (
    <>
      <div className="border-b border-line px-4 py-2.5">
        <div className="flex items-center gap-2">
          <State is={conditionOf(invocation)} isIconOnly>
            {statusOf(invocation)}
          </State>
          <h2 className="truncate text-title" title={invocation.lambdaName}>
            {invocation.lambdaName}
          </h2>
          <Badge>{invocation.cold ? 'cold' : 'warm'}</Badge>
          <Badge>{invocation.replayOf ? 'replay' : invocation.trigger}</Badge>
          <IconButton
            icon={X}
            label="Close the detail"
            onPress={() => change({ sel: undefined, with: undefined })}
            className="ml-auto"
          />
        </div>
        <p className="mono flex flex-wrap items-center gap-x-3 text-muted">
          {request && (
            <span className="flex max-w-full gap-1.5">
              <span className="truncate" title={request.target}>
                {request.method} {request.target}
              </span>
              {request.status}
            </span>
          )}
          <span className="flex min-w-0 items-center">
            <span className="truncate">{invocation.executionId}</span>
            <Copy text={invocation.executionId} subject="execution id" className="scale-90" />
          </span>
          <PlaceLink
            to={{ screen: 'invocations', search: { q: `trace:${invocation.traceId}`, sel: invocation.executionId } }}
          >
            trace
          </PlaceLink>
        </p>
        <div className="mt-1.5 flex flex-wrap gap-1.5">
          <Button
            look="primary"
            needs="lambda.invoke"
            icon={RotateCcw}
            shortcut="r"
            isPending={replay.isPending}
            onPress={() => replay.run()}
          >
            Replay
          </Button>
          <Button icon={Pencil} needs="lambda.invoke" onPress={() => setEditing(true)}>
            Replay with edits
          </Button>
          <Button icon={Bug} needs="root" onPress={() => setDebugging(true)}>
            Debug
          </Button>
          <PlaceLink
            to={{ screen: 'lambdas', id: invocation.lambdaId }}
            className="flex h-7 items-center rounded-md border border-line-strong bg-panel px-2.5 hover:bg-raised"
          >
            Lambda
          </PlaceLink>
          <Menu
            label="More"
            entries={[
              ...(request && gatewayUrl
                ? [
                    {
                      id: 'curl',
                      text: 'Copy as curl',
                      icon: Terminal,
                      onAction: () => void copyText(curlOf(request, gatewayUrl), 'curl command'),
                    },
                  ]
                : []),
              {
                id: 'test',
                text: 'Copy as test',
                icon: FlaskConical,
                onAction: () => void copyText(testOf(invocation), 'test'),
              },
              {
                id: 'compare',
                text: 'Compare with the previous invocation',
                icon: GitCompare,
                isDisabled: previousId === undefined && invocation.replayOf === undefined,
                onAction: () => change({ tab: 'compare', with: invocation.replayOf ?? previousId }),
              },
              {
                id: 'link',
                text: 'Copy link',
                icon: Link2,
                onAction: () => void copyText(location.href, 'link to the invocation'),
              },
              { id: 'export', text: 'Export as JSON', icon: Download, onAction: () => download(invocation) },
            ]}
          />
        </div>
      </div>
      {isTruncated && (
        <p className="mx-4 mt-3 rounded-md border border-line bg-raised px-3 py-2 text-muted">
          The event, log and result are no longer stored; newer ones replaced them.
        </p>
      )}
      {/* A comparison needs the whole height. */}
      {shownTab !== 'compare' && (
        <>
          {conditionOf(invocation) !== 'ok' && <FailureExplanation invocation={invocation} />}
          <div className="border-b border-line px-4 py-2">
            <Waterfall spans={spansOf(invocation)} />
          </div>
        </>
      )}
      <Tabs
        isInDetail
        label="Parts of the invocation"
        tabs={tabs}
        value={shownTab}
        onChange={(next) => change({ tab: next })}
      />
      {isDebugging && <DebugDialog invocation={invocation} onClose={() => setDebugging(false)} />}
      {dialog === 'edit' && <ReplayDialog invocation={invocation} onClose={() => setEditing(false)} />}
    </>
  );
}

function FailureExplanation({ invocation }: { invocation: InvocationDetail }) {
  const { executionId, outcome } = invocation;
  const run = useFailure(executionId);
  return (
    <div role="note" className="mx-4 mt-3 rounded-md border border-error/40 bg-error-soft px-3 py-2">
      <p>
        <strong className="font-semibold">Why it failed.</strong>{' '}
        <span className="mono break-words">{outcome.ok ? run && capital(run.text) : outcome.message}</span>
      </p>
      <p className="mt-1 text-muted">
        {outcome.ok ? 'The caller received a success response.' : adviceFor(outcome.failure)}
      </p>
      <FaultSource result={invocation} />
      {run && <FailureStory run={run} />}
    </div>
  );
}

/** The body is there or undefined, never left out. */
function withBody<Side extends { body?: unknown }>(side: Side) {
  return { ...side, body: side.body };
}

function download(invocation: InvocationDetail): void {
  const content = new Blob([JSON.stringify(invocation, null, 2)], { type: 'application/json' });
  saveFile(content, `invocation-${invocation.executionId}.json`);
}
