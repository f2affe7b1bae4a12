/**
 * A server for one page on loopback. Only who knows the token gets an answer, and only programs of
 * this machine and pages of this server can ask: `Host` is checked against names that others make
 * point here, `Origin` and `Sec-Fetch-Site` against other pages in the same browser.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { codeOf } from '../fault.js';
import { HostError } from '../host.js';
import { LIMITS, type Served, type Site } from './serving.js';

const LOOPBACK = '127.0.0.1';

/** How long an address that leads here once can be used, in milliseconds. */
const MINUTE = 60_000;

/** What every answer says. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** The policy of what is no page. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

/** One hundred and sixty random bits. */
const newToken = () => randomBytes(20).toString('hex');

/** Where the one thing asked for is in the answer's table. */
type Target = 'page' | 'facts' | 'events' | 'once' | 'slash';

/** Somebody who follows the changes. */
interface Follower {
  response: ServerResponse;
  /** Whether a frame is on its way. */
  busy: boolean;
  /** Whether there is something newer than that frame. */
  behind: boolean;
}

/** See {@link Serving.serve}. */
export async function serve(site: Site): Promise<Served> {
  const limits = { ...LIMITS, ...site.limits };
  const token = newToken();
  const followers = new Set<Follower>();
  let ticket: { code: string; until: number } | undefined;
  let isClosing = false;

  const server = createServer(
    {
      headersTimeout: limits.requestMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(limits.requestMs, 2000),
    },
    (request, response) => {
      answer(request, response).catch(() => response.destroy());
    },
  );
  server.maxConnections = limits.connections;
  server.timeout = limits.idleMs;
  const { port } = await listen(server, site.port);
  const origin = `http://${LOOPBACK}:${port}`;
  const hosts = [LOOPBACK, 'localhost'].flatMap((name) =>
    port === 80 ? [name, `${name}:80`] : [`${name}:${port}`],
  );

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    response.setHeader('Content-Security-Policy', NOTHING);
    // A body is of no use here, and what follows it might be taken for a request.
    if (request.headers['transfer-encoding'] !== undefined || request.headers['content-length']) {
      response.setHeader('Connection', 'close');
    }
    const [host, ...others] = request.headersDistinct.host ?? [];
    if (host === undefined || others.length > 0 || !hosts.includes(host.toLowerCase())) {
      return refuse(response, 421, 'ask for this server by its own address');
    }
    const own = [`http://${host.toLowerCase()}`];
    const origins = request.headersDistinct.origin ?? own;
    if (origins.length !== 1 || !own.includes(origins[0] ?? '')) {
      return refuse(response, 403, 'other pages may not ask here');
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return refuse(response, 405, 'only GET and HEAD are answered');
    }
    const target = targetOf(request.url ?? '');
    if (target === undefined) return refuse(response, 404, 'nothing is here');
    const site = request.headers['sec-fetch-site'] ?? 'none';
    const isForPages = target === 'facts' || target === 'events';
    if (isForPages && site !== 'same-origin' && site !== 'none') {
      return refuse(response, 403, 'other pages may not ask here');
    }
    const withBody = request.method === 'GET';
    switch (target) {
      case 'page':
        return sendPage(response, withBody);
      case 'facts':
        return sendFacts(response, withBody);
      case 'events':
        return follow(response, withBody);
      default:
        if (target === 'once' && withBody) ticket = undefined;
        return send(response, target === 'once' ? 303 : 308, { Location: `/${token}/` });
    }
  }

  /** What a request target names. It is compared as it came: nothing in it is decoded. */
  function targetOf(url: string): Target | undefined {
    const [path = ''] = url.split('?', 1);
    const [, first = '', ...rest] = path.split('/');
    if (path.startsWith('/') && isSame(first, token)) {
      if (rest.length === 0) return 'slash';
      const [name, ...more] = rest;
      if (more.length > 0) return undefined;
      if (name === '') return 'page';
      return name === 'facts' || name === 'events' ? name : undefined;
    }
    const isFresh = ticket !== undefined && Date.now() < ticket.until;
    return isFresh && isSame(path, `/${ticket?.code}`) ? 'once' : undefined;
  }

  function sendPage(response: ServerResponse, withBody: boolean): void {
    const { html, policy } = site.page;
    response.setHeader('Content-Security-Policy', policy);
    send(
      response,
      200,
      { 'Content-Type': 'text/html; charset=utf-8', 'Content-Length': html.length },
      withBody ? [html] : [],
    );
  }

  async function sendFacts(response: ServerResponse, withBody: boolean): Promise<void> {
    const pieces = await site.facts();
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    send(
      response,
      200,
      { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': length },
      withBody ? pieces : [],
    );
  }

  async function follow(response: ServerResponse, withBody: boolean): Promise<void> {
    if (isClosing || followers.size >= limits.followers) {
      response.setHeader('Retry-After', '5');
      return refuse(response, 503, 'too many pages are open');
    }
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      Connection: 'close',
    });
    if (!withBody) return void response.end();
    const follower: Follower = { response, busy: false, behind: false };
    followers.add(follower);
    const gone = () => followers.delete(follower);
    response.on('close', gone);
    response.on('error', gone);
    response.on('drain', () => {
      follower.busy = false;
      if (follower.behind) void update(follower);
    });
    response.write('retry: 1000\n\n');
    await update(follower);
  }

  /**
   * Sends the present facts. Whoever is slow is sent nothing until the last frame has left, and
   * then what is true by that time: what waits never grows.
   */
  async function update(follower: Follower): Promise<void> {
    follower.behind = true;
    if (follower.busy) return;
    follower.busy = true;
    while (follower.behind && !isClosing) {
      follower.behind = false;
      const pieces = await site.facts();
      const { response } = follower;
      if (response.destroyed || isClosing) return;
      response.cork();
      response.write('data: ');
      for (const piece of pieces) response.write(piece);
      response.write('\n\n');
      response.uncork();
      // 'drain' goes on.
      if (response.writableNeedDrain) return;
    }
    follower.busy = false;
  }

  const heartbeat = setInterval(() => {
    for (const { response, busy } of followers) if (!busy) response.write(':\n\n');
  }, limits.heartbeatMs);
  heartbeat.unref();

  return {
    port,
    url: `${origin}/${token}/`,
    once() {
      ticket = { code: newToken(), until: Date.now() + MINUTE };
      return `${origin}/${ticket.code}`;
    },
    changed() {
      for (const follower of followers) {
        update(follower).catch(() => follower.response.destroy());
      }
    },
    async close() {
      isClosing = true;
      clearInterval(heartbeat);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const { response } of followers) response.end('event: closed\ndata: {}\n\n');
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), limits.farewellMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function listen(server: Server, port: number | undefined): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const place = port === undefined ? LOOPBACK : `${LOOPBACK}:${port}`;
      const [message, help] = FAULTS[codeOf(error)] ?? [
        `cannot be listened on (${codeOf(error)})`,
        'give another --port',
      ];
      reject(new HostError('other', place, message, help));
    });
    server.listen({ host: LOOPBACK, port: port ?? 0, exclusive: true }, () => {
      server.removeAllListeners('error');
      // An error of a connection ends that connection; the server goes on.
      server.on('error', () => {});
      resolve(server.address() as AddressInfo);
    });
  });
}

const FAULTS: Record<string, readonly [string, string]> = {
  EADDRINUSE: [
    'the port is taken by another program',
    'give another --port, or none for a free one',
  ],
  EACCES: ['the port may not be used by you', 'give a --port above 1023, or none for a free one'],
};

/** Whether two texts are the same, in a time that does not tell where they differ. */
function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function refuse(response: ServerResponse, status: number, text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': bytes.length };
  send(response, status, headers, [bytes]);
}

/** Sends an answer whole. To HEAD, Node leaves the body out by itself. */
function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string | number>,
  body: readonly Uint8Array[] = [],
): void {
  response.writeHead(status, headers);
  response.cork();
  for (const piece of body) response.write(piece);
  response.end();
}
