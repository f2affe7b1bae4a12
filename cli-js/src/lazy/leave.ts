/** A session ends: what is slow goes on in a process that outlives the client's patience. */
import type { Incoming } from '../cli/event.js';
import { detach } from '../host/detach.js';
import type { SessionProcess } from '../host/host.js';
import { sessionProcess } from '../host/session.js';
import type { NotedPlan } from '../host/sessions.js';

/** What that process has to know. The client's own process can only be found while it lives. */
export interface Ended {
  event: { hook_event_name: string; reason: string };
  session: string;
  plans: string[];
  process?: SessionProcess;
}

/** Starts the process that does what is to be done after a session. */
export function leave(event: Incoming, plans: readonly NotedPlan[], script: string): Promise<void> {
  const { reason } = event.value;
  const process = sessionProcess();
  const ended: Ended = {
    event: { hook_event_name: event.name, reason: typeof reason === 'string' ? reason : '' },
    session: event.session,
    plans: plans.map(({ plan }) => plan),
    ...(process === undefined ? {} : { process }),
  };
  return detach(script, ['hook', '--ended', JSON.stringify(ended)]);
}
