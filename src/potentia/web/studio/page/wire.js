// The line to the studio: one WebSocket, messages as JSON, answers as JSON or as arrays. It comes back by itself.

import { readParts } from "/viewer/recording.js";

const FIRST_WAIT = 250; // milliseconds before the line is tried again; twice as long each time
const LONGEST_WAIT = 5000;
const TOO_LARGE = 1009;

/** Calls `on.open()`, `on.message(header, arrays)`, `on.lost(sentence)`. */
export class Wire {
  constructor(on) {
    this.on = on;
    this.wait = FIRST_WAIT;
    this.socket = null;
    this.connect();
    window.addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry()); // a laptop that slept
  }

  connect() {
    const token = new URLSearchParams(location.search).get("token") ?? "";
    const socket = new WebSocket(`ws://${location.host}/ws?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.on.open();
    });
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") return this.on.message(JSON.parse(data), {});
      const { header, arrays } = readParts(data);
      return this.on.message(header, arrays);
    });
    socket.addEventListener("close", ({ code }) => this.closed(socket, code));
    this.socket = socket;
  }

  get open() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  /** Send a message; false where there is no line now. */
  send(message) {
    if (!this.open) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  closed(socket, code) {
    if (socket !== this.socket) return;
    const large = code === TOO_LARGE ? "A message was larger than the studio takes, and was not done." : "";
    this.on.lost(large);
    this.again = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(LONGEST_WAIT, 2 * this.wait);
  }

  /** Try at once. */
  hurry() {
    if (!this.socket || this.socket.readyState !== WebSocket.CLOSED) return;
    clearTimeout(this.again);
    this.wait = FIRST_WAIT;
    this.connect();
  }
}
