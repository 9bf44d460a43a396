// Questions over a line that carries messages: each has a number, and its answer the same.

/** ask(message) gives a promise; send(question) puts it on the line; heard(header) is called with what comes back. */
export function createAsker(send) {
  const waiting = new Map();
  let last = 0;

  function ask(message) {
    return new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      if (send({ ...message, id: last }) === false) {
        waiting.delete(last);
        reject(new Error("the studio does not answer: this was not solved"));
      }
    });
  }

  /** Of { id, answer } or { id, problem }. */
  function heard({ id, answer, problem }) {
    const question = waiting.get(id);
    waiting.delete(id);
    if (problem) question?.reject(new Error(problem));
    else question?.resolve(answer);
  }

  /** The line was lost: nobody will answer. */
  function lost() {
    for (const { reject } of waiting.values()) reject(new Error("the studio was not reached: this was not solved"));
    waiting.clear();
  }

  return { ask, heard, lost };
}
