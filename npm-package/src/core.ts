import type * as raw from './generated/raw.js';

/** The functions of the module; every one answers with a JSON text. */
type Functions = Omit<
  typeof raw,
  'default' | 'initSync' | 'memory' | 'start' | 'takePanic' | '__wbg_reset_state'
>;

/** The name of a function of the module. */
export type Name = keyof Functions;

/** What a function takes. */
export type Arguments<N extends Name> = Readonly<Parameters<Functions[N]>>;

/** The functions that take this. */
export type NameWith<A extends readonly unknown[]> = {
  [N in Name]: A extends Arguments<N> ? N : never;
}[Name];

/** What calls the functions of a module, and replaces an instance that has trapped. */
export interface Core {
  /** Makes a function ready to be called, or throws; cheap after the first time. */
  ready(name: Name): void;
  /** Calls a function that is ready. */
  call<N extends Name>(name: N, args: Arguments<N>): string;
  /** What the last panic said, once; empty where there was none. */
  takePanic(): string;
  /** Replaces the instance by a fresh one. */
  renew(): void;
}
