// The oldest Claude Code whose hooks okstra supports, and the newest it was tried with.
export const CLIENTS = { oldest: '2.1.197', newest: '2.1.332' };
