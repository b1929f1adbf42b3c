import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { FailureNote } from '../../parts/empty-state.tsx';
import { PlaceLink } from '../../shell/place-link.tsx';
import { PipelineGuide } from './pipeline-guide.tsx';
import { Guide, Step } from './step.tsx';
import type { Tour } from './use-tour.ts';

/** Three ways to begin, each with what is done already ticked. */
export function FirstSteps({ tour }: { tour: Tour }) {
  return (
    <section aria-labelledby="first-steps">
      <h2 id="first-steps" className="eyebrow mb-2">
        First steps
      </h2>
      <div className="grid grid-cols-1 gap-3 lg:grid-cols-3">
        <DemoGuide tour={tour} />
        <FormGuide tour={tour} />
        <PipelineGuide tour={tour} />
      </div>
    </section>
  );
}

function DemoGuide({ tour: { hasDemo, demo } }: { tour: Tour }) {
  return (
    <Guide title="Look around the demo world" lead="A small shop: an organization, its website, lambdas, an API.">
      <Step isDone={hasDemo} text={hasDemo === false ? 'Bring the demo world' : 'The demo world is there'}>
        {hasDemo === false && demo.isHarmless && (
          <>
            <p className="text-muted">This instance began without it; nothing of yours is changed.</p>
            <Button look="primary" isPending={demo.isComing} onPress={demo.bring}>
              {demo.isComing ? 'Bringing it ...' : 'Bring the demo world'}
            </Button>
          </>
        )}
        {hasDemo === false && demo.isHarmless === false && (
          <p className="text-muted">
            This instance has a world of its own, which the demo would replace. <code>{DEMO_COMMAND}</code>
            <Copy text={DEMO_COMMAND} what="command" className="scale-90" /> opens another instance that has it; a reset
            is in the <PlaceLink to={{ screen: 'history' }}>history</PlaceLink>.
          </p>
        )}
        <FailureNote error={demo.error} />
      </Step>
      <Step text="Walk through its resources">
        <PlaceLink to={{ screen: 'resources' }}>Open the tree</PlaceLink>
      </Step>
      <Step text="Change something, then take it back">
        <PlaceLink to={{ screen: 'history' }}>Open the history</PlaceLink>
      </Step>
    </Guide>
  );
}

function FormGuide({ tour }: { tour: Tour }) {
  const { form, formUrl, leadCount, isSending, stray, error, hasDemo } = tour;
  const hasLead = leadCount > 0;
  return (
    <Guide title="A web form in 60 seconds" lead="A form on a website becomes a lead in the CRM's inbox.">
      <Step isDone={form !== undefined} text="A lambda takes the form">
        {form ? (
          <PlaceLink to={{ screen: 'lambdas', id: form.id }}>{form.name}</PlaceLink>
        ) : hasDemo === false ? (
          <p className="text-muted">The demo world brings one.</p>
        ) : (
          hasDemo && (
            <p className="text-muted">
              None here has the variable CRM_OID any more.{' '}
              <PlaceLink to={{ screen: 'lambdas' }}>Open the lambdas</PlaceLink>
            </p>
          )
        )}
      </Step>
      <Step isDone={hasLead} text="Send the form as Ada Lovelace">
        {form && formUrl !== undefined && (
          <Button look={hasLead ? 'plain' : 'primary'} isPending={isSending} onPress={tour.sendForm}>
            {isSending ? 'Sending ...' : hasLead ? 'Send again' : 'Send the form'}
          </Button>
        )}
        {formUrl && (
          <p className="flex max-w-full items-center text-[12px] text-muted">
            <span className="mono truncate">POST {formUrl}</span>
            <Copy text={formUrl} what="public address of the form" />
          </p>
        )}
        {stray && (
          <p role="alert" className="rounded-md border border-error/40 bg-error-soft px-3 py-2 text-[12.5px]">
            No lead came of it: {stray.message}.{' '}
            {stray.executionId ? (
              <PlaceLink to={{ screen: 'invocations', search: { sel: stray.executionId } }}>
                Open the invocation
              </PlaceLink>
            ) : (
              <PlaceLink to={{ screen: 'gateway' }}>Open the gateway</PlaceLink>
            )}
          </p>
        )}
        <FailureNote error={error} />
      </Step>
      <Step isDone={hasLead} text="Find the lead in the inbox">
        <PlaceLink to={{ screen: 'leads' }}>{hasLead ? `${leadCount} in the inbox` : 'Open the inbox'}</PlaceLink>
      </Step>
      <Step text="Make a form of your own">
        <PlaceLink to={{ screen: 'lambdas', search: { new: 'web-form' } }}>Begin with code that makes leads</PlaceLink>
      </Step>
    </Guide>
  );
}

const DEMO_COMMAND = 'npx terrarium start --instance demo';
