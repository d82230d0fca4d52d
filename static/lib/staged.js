// A snapshot while its parts come in: nothing of it counts until it is whole.
import { memberKey, Topic } from './model.js';

export class Staged {
  #layouts = []; // numbered over all parts

  constructor() {
    this.members = new Map();
    this.topics = new Map();
    this.wipes = new Map();
  }

  /** Takes one part. */
  add(part) {
    for (const m of part.members ?? []) this.members.set(memberKey(m), m);
    for (const w of part.writePerms ?? []) this.wipes.set(w.brokerName, w);
    if (part.layouts) this.#layouts.push(...part.layouts);
    for (const t of part.topics ?? []) {
      const { topic, layout, ...facts } = t;
      if (facts.updatedAt) facts.updatedAt = Date.parse(facts.updatedAt);
      this.topics.set(topic, new Topic(topic, this.#layouts[layout], facts));
    }
  }
}
