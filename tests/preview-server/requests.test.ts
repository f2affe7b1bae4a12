/** What is answered to whom: raw bytes over real sockets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { carry, evidence, FOUR, LEDGER, PLAN, started } from '../cli/stages.js';
import { exchange, PAGE, Project, type Running, serve, stop } from './support.js';

/** Text that would do harm if anybody took it for something else than text. */
const HOSTILE = [
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '\n\nevent: closed\ndata: {}\n\n',
  '\r\ndata: fake\r\n\r\n',
  'é 한글 \u2028\u2029\u202e\u0000\u001b[31m',
];

let server: Running;
const hostile = `${FOUR}\n${HOSTILE.join('\n')}\n`;

beforeAll(async () => {
  const project = new Project({
    [PLAN]: hostile,
    [LEDGER]: started(1, { session: HOSTILE.join('') }),
    [carry(1)]: evidence(1, 'Parse the input', { notes: HOSTILE }),
    '.env': 'SECRET=1\n',
  });
  server = await serve(project);
});
afterAll(() => stop(server));

/** A request with lines of its own; `HOST`, `PORT` and `TOKEN` stand for the server's. */
const filled = (text: string) =>
  text
    .replaceAll(/\bHOST\b/g, `127.0.0.1:${server.port}`)
    .replaceAll(/\bPORT\b/g, String(server.port))
    .replaceAll('TOKEN', server.token);

const ask = (lines: string[]) => exchange(server.port, filled(`${lines.join('\r\n')}\r\n\r\n`));

/** The status of the answer; 0 where the connection was ended without one. */
const status = (answer: string) => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);

const GET = 'GET /TOKEN/ HTTP/1.1';
const H = 'Host: HOST';
const END = 'Connection: close';

describe('who may ask for what', () => {
  it.each<[number, string, string[]]>([
    [200, 'the page', [GET, H, END]],
    [200, 'the page, by another name of this machine', [GET, 'Host: localhost:PORT', END]],
    [200, 'the page, by its name in capitals', [GET, 'Host: LOCALHOST:PORT', END]],
    [200, 'the page with a query', ['GET /TOKEN/?lang=ko HTTP/1.1', H, END]],
    [200, 'the page, for a link on another page', [GET, H, 'Sec-Fetch-Site: cross-site', END]],
    [200, 'facts', ['GET /TOKEN/facts HTTP/1.1', H, END]],
    [200, 'facts, for the page', ['GET /TOKEN/facts HTTP/1.1', H, 'Origin: http://HOST', END]],
    [200, 'facts, HEAD', ['HEAD /TOKEN/facts HTTP/1.1', H, END]],
    [200, 'events', ['GET /TOKEN/events HTTP/1.1', H]],
    [308, 'the address without its last /', ['GET /TOKEN HTTP/1.1', H, END]],

    [421, 'another host', [GET, 'Host: evil.example', END]],
    [421, 'another host that points here', [GET, 'Host: evil.example:PORT', END]],
    [421, 'another port', [GET, 'Host: 127.0.0.1:1', END]],
    [421, 'no port', [GET, 'Host: 127.0.0.1', END]],
    [421, 'another loopback address', [GET, 'Host: 127.0.0.2:PORT', END]],
    [421, 'a host that begins like ours', [GET, 'Host: HOST.evil.example', END]],
    [421, 'a host with a user', [GET, 'Host: a@HOST', END]],
    [421, 'an empty host', [GET, 'Host:', END]],
    [421, 'two hosts', [GET, H, 'Host: evil.example', END]],
    [421, 'two hosts, the other way round', [GET, 'Host: evil.example', H, END]],
    [421, 'HTTP/1.0 without a host', ['GET /TOKEN/ HTTP/1.0']],
    [400, 'HTTP/1.1 without a host', [GET, END]],

    [403, 'another origin', [GET, H, 'Origin: https://evil.example', END]],
    [403, 'no origin at all, as from a file', [GET, H, 'Origin: null', END]],
    [403, 'the origin of another port', [GET, H, 'Origin: http://127.0.0.1:1', END]],
    [403, 'our origin over TLS', [GET, H, 'Origin: https://HOST', END]],
    [403, 'the origin of the other name', [GET, H, 'Origin: http://localhost:PORT', END]],
    [403, 'two origins', [GET, H, 'Origin: http://HOST', 'Origin: https://evil.example', END]],
    [
      403,
      'facts, for another page',
      ['GET /TOKEN/facts HTTP/1.1', H, 'Sec-Fetch-Site: cross-site'],
    ],
    [
      403,
      'events, for a page near by',
      ['GET /TOKEN/events HTTP/1.1', H, 'Sec-Fetch-Site: same-site'],
    ],

    [404, 'nothing', ['GET / HTTP/1.1', H, END]],
    [404, 'an icon', ['GET /favicon.ico HTTP/1.1', H, END]],
    [404, 'facts without a token', ['GET /facts HTTP/1.1', H, END]],
    [404, 'a wrong token', [`GET /${'0'.repeat(40)}/ HTTP/1.1`, H, END]],
    [404, 'a token too long', ['GET /TOKEN0/ HTTP/1.1', H, END]],
    [404, 'a token in a query', ['GET /?TOKEN HTTP/1.1', H, END]],
    [404, 'two slashes', ['GET //TOKEN/ HTTP/1.1', H, END]],
    [404, 'something below the page', ['GET /TOKEN/facts/ HTTP/1.1', H, END]],
    [404, 'another file', ['GET /TOKEN/plan.md HTTP/1.1', H, END]],
    [404, 'the folder above', ['GET /TOKEN/../.env HTTP/1.1', H, END]],
    [404, 'the folder above, encoded', ['GET /TOKEN/%2e%2e/.env HTTP/1.1', H, END]],
    [404, 'the folder above, encoded twice', ['GET /TOKEN/%252e%252e%252f.env HTTP/1.1', H, END]],
    [404, 'the folder above, as in Windows', ['GET /TOKEN/..\\.env HTTP/1.1', H, END]],
    [404, 'an absolute path', ['GET /TOKEN//etc/passwd HTTP/1.1', H, END]],
    [404, 'facts, encoded', ['GET /TOKEN/%66acts HTTP/1.1', H, END]],
    [404, 'a NUL', ['GET /TOKEN/%00facts HTTP/1.1', H, END]],
    [404, 'an address as of a proxy', ['GET http://HOST/TOKEN/ HTTP/1.1', H, END]],
    [404, 'an address of somebody else', ['GET http://evil.example/TOKEN/ HTTP/1.1', H, END]],

    [405, 'POST', ['POST /TOKEN/facts HTTP/1.1', H, 'Content-Length: 0', END]],
    [405, 'PUT', ['PUT /TOKEN/ HTTP/1.1', H, 'Content-Length: 0', END]],
    [405, 'DELETE', ['DELETE /TOKEN/ HTTP/1.1', H, END]],
    [405, 'OPTIONS', ['OPTIONS /TOKEN/ HTTP/1.1', H, END]],
    [405, 'OPTIONS of everything', ['OPTIONS * HTTP/1.1', H, END]],
    [405, 'TRACE', ['TRACE /TOKEN/ HTTP/1.1', H, END]],
    [405, 'a method without the token', ['PATCH / HTTP/1.1', H, 'Content-Length: 0', END]],
    [0, 'a tunnel', ['CONNECT evil.example:443 HTTP/1.1', H]],

    [431, 'huge headers', [GET, H, `X: ${'x'.repeat(100_000)}`]],
    [431, 'a huge address', [`GET /TOKEN/?${'x'.repeat(100_000)} HTTP/1.1`, H]],
    [400, 'no HTTP', ['hello']],
    [400, 'TLS', ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000']],
    [400, 'two lengths', [GET, H, 'Content-Length: 1', 'Content-Length: 2', '', 'xx']],
    [400, 'a length and chunks', [GET, H, 'Content-Length: 1', 'Transfer-Encoding: chunked']],
    [400, 'a folded header', [GET, H, 'X: a', ' b', END]],
  ])('%i: %s', async (wanted, _name, lines) => {
    const answer = await ask(lines);
    expect(status(answer)).toBe(wanted);
    if (wanted >= 400 || wanted === 0) {
      // Neither what we know nor what we were sent comes back.
      expect(answer).not.toContain(server.token);
      expect(answer).not.toContain('evil');
      expect(answer).not.toContain('Stage Map');
      expect(answer).not.toMatch(/access-control/i);
    }
  });

  it('several requests in one piece are answered in turn', async () => {
    const one = `GET /TOKEN/facts HTTP/1.1\r\n${H}\r\n\r\n`;
    const bad = `GET /TOKEN/facts HTTP/1.1\r\nHost: evil.example\r\n\r\n`;
    const answer = await exchange(server.port, filled(one + bad + one));
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual([
      'HTTP/1.1 200',
      'HTTP/1.1 421',
      'HTTP/1.1 200',
    ]);
  });

  it('noise harms nobody', async () => {
    // The same noise each time: a generator with a known beginning.
    let state = 7;
    const next = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state;
    };
    const pieces = [
      'GET ',
      '/TOKEN/',
      'facts',
      ' HTTP/1.1',
      '\r\n',
      H,
      '\0',
      '\n',
      ':',
      '\xff',
      '%',
    ];
    for (let round = 0; round < 100; round += 1) {
      const words = Array.from({ length: 1 + (next() % 30) }, () => pieces[next() % pieces.length]);
      const answer = await exchange(server.port, filled(words.join('')), 20);
      expect(answer).not.toContain('SECRET');
    }
    expect((await fetch(`${server.url}facts`)).status).toBe(200);
  });

  it('a body is not taken for a request', async () => {
    const inner = `GET /TOKEN/facts HTTP/1.1\r\n${H}\r\n\r\n`;
    const length = filled(inner).length;
    const outer = `GET /TOKEN/ HTTP/1.1\r\n${H}\r\nContent-Length: ${length}\r\n\r\n`;
    const answer = await exchange(server.port, filled(outer + inner));
    expect(answer.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200']);
  });
});

describe('the page', () => {
  it('may connect to its server and says that it is live; nothing else is changed', async () => {
    const answer = await fetch(server.url);
    const wanted = PAGE.replace("connect-src 'none'", "connect-src 'self'").replace(
      '<head>',
      '<head><meta name="okstra-live" content="">',
    );
    expect(await answer.text()).toBe(wanted);
  });

  it('comes with headers that keep it to itself', async () => {
    const { headers } = await fetch(server.url);
    const { date: _, ...all } = Object.fromEntries(headers);
    expect(all).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const policy = /content="(default-src[^"]*)"/.exec(PAGE)?.[1] ?? '';
    const more = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    expect(all['content-security-policy']).toBe(
      `${policy.replace("connect-src 'none'", "connect-src 'self'")}; ${more}`,
    );
  });

  it.each([
    ['facts', 'application/json; charset=utf-8'],
    ['events', 'text/event-stream; charset=utf-8'],
    ['nothing', 'text/plain; charset=utf-8'],
  ])('%s is of type %s, and no page', async (path, type) => {
    const { headers, body } = await fetch(`${server.url}${path}`);
    await body?.cancel();
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    );
  });
});

describe('facts', () => {
  it('hold the files of the task, letter for letter, and no place on this machine', async () => {
    const answer = await fetch(`${server.url}facts`);
    const text = await answer.text();
    const { now, ...facts } = JSON.parse(text);
    expect(facts).toEqual({
      plan: { path: PLAN, text: hostile },
      ledger: { path: LEDGER, text: started(1, { session: HOSTILE.join('') }) },
      evidence: [{ path: carry(1), text: evidence(1, 'Parse the input', { notes: HOSTILE }) }],
      fault: null,
    });
    expect(Math.abs(Date.parse(now) - Date.now())).toBeLessThan(5000);
    expect(text).not.toContain('SECRET');
    expect(text).not.toContain('okstra-preview-');
  });

  it('come as one event of one line, whatever stands in them', async () => {
    const answer = await ask(['GET /TOKEN/events HTTP/1.1', H]);
    const [, body = ''] = answer.split(/\r\n\r\n(.*)/s);
    const lines = body.split('\n').filter((line) => /^(?:data|event|id|retry)\b/.test(line));
    expect(lines.map((line) => line.slice(0, 5))).toEqual(['retry', 'data:']);
  });
});
