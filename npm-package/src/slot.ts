// What makes the module ready: each entry of the package brings its own, once, when it is loaded.
let ready: () => void = () => {};

/** Sets what makes the module ready. */
export function useLoader(makesReady: () => void): void {
  ready = makesReady;
}

/** Makes the module ready, or throws. */
export function makeReady(): void {
  ready();
}
