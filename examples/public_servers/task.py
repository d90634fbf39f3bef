# Prepare release 1.4.0: what changed, what users asked for, when to call; write the notes, show the state of the tree.
import asyncio
import re
from collections import Counter

base = tools.filesystem.list_allowed_directories()["content"].splitlines()[1]
repository = f"{base}/repository"

# What changed, from the log.
log = tools.git.git_log(repo_path=repository, max_count=20)
authors = Counter(re.findall(r"^Author: (.*)$", log, re.MULTILINE))
messages = re.findall(r"^Message: (.*)$", log, re.MULTILINE)
fixes = sum(message.startswith("Fix:") for message in messages)

# What users asked for: all files of the survey, read at the same time.
listing = tools.filesystem.list_directory(path=f"{base}/survey")["content"]
paths = [f"{base}/survey/{name}" for name in sorted(re.findall(r"\[FILE\] (\S+)", listing))]
files = await asyncio.gather(*(tools.filesystem.read_text_file(path=path) for path in paths))
votes = Counter()
for file in files:
    for line in file["content"].splitlines()[1:]:
        feature, count = line.split(",")
        votes[feature] += int(count)
first, second = votes.most_common(2)
print(tools.everything.get_sum(a=first[1], b=second[1]))

# When the teams talk: neither city changes its clocks.
call = tools.time.convert_time(source_timezone="Asia/Tokyo", time="17:30", target_timezone="Africa/Johannesburg")

# Write, read back, look at the tree.
notes = ["# 1.4.0", "", *(f"- {message}" for message in reversed(messages)), "", f"Next: {first[0]}, then {second[0]}."]
tools.filesystem.create_directory(path=f"{repository}/notes")
tools.filesystem.write_file(path=f"{repository}/notes/1.4.0.md", content="\n".join(notes) + "\n")
tools.filesystem.write_file(path=f"{repository}/VERSION", content="1.4.0\n")
print(tools.filesystem.read_text_file(path=f"{repository}/notes/1.4.0.md")["content"])
status = tools.git.git_status(repo_path=repository)
diff = tools.git.git_diff_unstaged(repo_path=repository)

{
    "commits": dict(authors),
    "fixes": fixes,
    "votes": dict(votes.most_common()),
    "call": [call["source"]["datetime"][11:16], call["target"]["datetime"][11:16], call["time_difference"]],
    "modified": re.findall(r"modified:\s+(\S+)", status),
    "untracked": re.findall(r"^\t([^:\s]+)$", status, re.MULTILINE),
    "lines": sorted(re.findall(r"^[+-]\d.*$", diff, re.MULTILINE)),
}
