import { plugin } from '../../plugin/plugin.ts';
import { outboundRules, outboundRulesChanged } from '../../plugin/tokens.ts';
import { outbound } from './declaration.ts';
import { outboundRulesIn } from './outbound-rules.ts';

/** Applies the rules to the outbound calls of lambdas. */
export const outboundPlugin = plugin({
  declaration: outbound,
  start(platform) {
    const rules = outboundRulesIn(platform.logs['outbound-rules'], async (before, after) => {
      await platform.settle(outboundRulesChanged, { before, after });
      platform.publish('outbound', {});
    });
    platform.fill(outboundRules, { list: () => rules.kept().rules, replace: rules.replace });
    platform.routes(async (guard) => {
      const { outboundRouter } = await import('./outbound-routes.ts');
      const { default: action, crm } = platform.config.outbound;
      return [outboundRouter(rules, { default: action, crm }, guard)];
    });
    return rules;
  },
});
