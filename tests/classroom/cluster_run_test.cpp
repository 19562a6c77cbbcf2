#include "classroom/cluster_run.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "classroom/class_parts.hpp"
#include "grading/base/machine_error.hpp"
#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::classroom;
using Catch::Matchers::ContainsSubstring;

namespace {

namespace fs = std::filesystem;

/// A queue whose tasks do as the test says when the run next asks for them.
class ScriptedQueue : public BatchQueue {
 public:
  std::string submit(const fs::path&, const std::set<unsigned>& parts) override {
    submitted.push_back(parts);
    return std::to_string(submitted.size());
  }
  std::optional<std::set<unsigned>> unfinished(const std::string& job) override {
    ++asked;
    return on_ask ? on_ask(std::stoul(job)) : std::set<unsigned>();
  }
  void cancel(const std::string& job) noexcept override { cancelled.push_back(job); }

  std::function<std::optional<std::set<unsigned>>(std::size_t job)> on_ask;
  std::vector<std::set<unsigned>> submitted;
  std::vector<std::string> cancelled;
  int asked = 0;
};

struct Cluster {
  grading::ScratchFolder folder{fs::temp_directory_path()};
  VerdictStore store{folder.path() / "verdicts"};
  ScriptedQueue queue;
  std::vector<std::string> notes;

  Cluster() { fs::create_directory(folder.path() / "parts"); }
  fs::path parts() const { return folder.path() / "parts"; }
  ClusterOrder order(unsigned count) {
    return {.folder = parts(),
            .script = "judge",
            .parts = count,
            .conditions = "these",
            .pause = std::chrono::milliseconds(0),
            .on_note = [this](const std::string& note) { notes.push_back(note); }};
  }
  void keep(const std::string& content) const {
    FileVerdict verdict;
    verdict.standing = Standing::graded;
    store.keep("01", content, verdict);
  }
  void leave(unsigned part, std::size_t judged, bool ended, const std::string& error = "") const {
    write_state(state_file(parts(), part),
                {.host = "n7", .conditions = "these", .judged = judged, .ended = ended, .error = error});
  }
};

}  // namespace

TEST_CASE("every file is in exactly one part") {
  for (std::size_t file = 0; file < 20; ++file) {
    int parts = 0;
    for (unsigned number = 1; number <= 3; ++number) parts += Part{number, 3}.has(file) ? 1 : 0;
    CHECK(parts == 1);
  }
  CHECK(parse_part("3/8").number == 3);
  CHECK(parse_part("3/8").count == 8);
  for (const char* wrong : {"", "3", "0/8", "9/8", "3/8/", "-1/8", "3/ 8"}) CHECK_THROWS(parse_part(wrong));
}

TEST_CASE("a verdict is taken as soon as a part has kept it") {
  Cluster cluster;
  {
    ClusterRun run(cluster.queue, cluster.store, cluster.order(2));
    CHECK(cluster.queue.submitted == std::vector<std::set<unsigned>>{{1, 2}});
    cluster.keep("a");
    CHECK(run.wait_for(0, "01", "a").standing == Standing::graded);
    CHECK(cluster.queue.asked == 0);
  }
  CHECK(cluster.queue.cancelled == std::vector<std::string>{"1"});
}

TEST_CASE("a part that died runs again, alone, as often as it comes further") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(3));
  cluster.queue.on_ask = [&](std::size_t job) {
    if (job == 10) cluster.keep("b");
    cluster.leave(2, 1, false);
    return job == 1 ? std::set<unsigned>{1, 3} : std::set<unsigned>{};
  };
  CHECK(run.wait_for(1, "01", "b").standing == Standing::graded);
  REQUIRE(cluster.queue.submitted.size() >= 10);
  CHECK(cluster.queue.submitted[1] == std::set<unsigned>{2});
  CHECK(cluster.queue.submitted[9] == std::set<unsigned>{2});
  CHECK_THAT(cluster.notes.at(0),
             ContainsSubstring("Part 2 of 3 ended on n7 before its end. It runs again."));
}

TEST_CASE("a part that comes to nothing three times is given up, and others are not") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(2));
  cluster.queue.on_ask = [&](std::size_t) {
    cluster.leave(1, 1, true);
    cluster.leave(2, 0, false, "The disk is full.");
    cluster.keep("a");
    return std::set<unsigned>();
  };
  const FileVerdict verdict = run.wait_for(1, "01", "b");
  CHECK(verdict.standing == Standing::ungraded);
  CHECK(verdict.message ==
        "Part 2 of 2 on the cluster was tried 3 times and stopped on n7: The disk is full.");
  CHECK(cluster.queue.submitted == std::vector<std::set<unsigned>>{{1, 2}, {2}, {2}});
  CHECK(run.wait_for(0, "01", "a").standing == Standing::graded);
}

TEST_CASE("why a node could not judge a file is known from its part") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(1));
  cluster.queue.on_ask = [&](std::size_t) {
    PartState state{.host = "n7", .conditions = "these", .judged = 0, .ended = true};
    state.ungraded[VerdictStore::name_of("01", "a")] = "There is no memory left.";
    write_state(state_file(cluster.parts(), 1), state);
    return std::set<unsigned>();
  };
  CHECK(run.wait_for(0, "01", "a").message == "There is no memory left.");
  CHECK(cluster.queue.submitted.size() == ClusterRun::kTries);
}

TEST_CASE("a part that has ended without a file is asked again, and then given up") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(1));
  cluster.queue.on_ask = [&](std::size_t) {
    cluster.leave(1, 5, true);
    return std::set<unsigned>();
  };
  CHECK_THAT(run.wait_for(0, "01", "new").message,
             ContainsSubstring("have the submissions changed meanwhile?"));
  CHECK(cluster.queue.submitted.size() == ClusterRun::kTries);
}

TEST_CASE("nodes that would judge otherwise end the run") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(1));
  cluster.queue.on_ask = [&](std::size_t) {
    write_state(state_file(cluster.parts(), 1), {.host = "n7", .conditions = "others"});
    return std::set<unsigned>{1};
  };
  CHECK_THROWS_WITH(run.wait_for(0, "01", "a"), ContainsSubstring("n7 would judge by another compiler"));
}

TEST_CASE("a cluster on which no part begins ends the run, and the log says why") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(1));
  SECTION("without a log") {
    CHECK_THROWS_WITH(run.wait_for(0, "01", "a"), ContainsSubstring("is this folder shared with all nodes"));
  }
  SECTION("with one") {
    grading::write_file_atomically(cluster.parts() / "1.log", "libfmt.so:\nno such file\n");
    CHECK_THROWS_WITH(run.wait_for(0, "01", "a"), ContainsSubstring("its log: libfmt.so: no such file"));
  }
}

TEST_CASE("a queue that does not answer is asked until it does") {
  Cluster cluster;
  ClusterRun run(cluster.queue, cluster.store, cluster.order(1));
  cluster.queue.on_ask = [&](std::size_t) -> std::optional<std::set<unsigned>> {
    if (cluster.queue.asked == 3) cluster.keep("a");
    return std::nullopt;
  };
  CHECK(run.wait_for(0, "01", "a").standing == Standing::graded);
  CHECK(cluster.notes.size() == 1);
}

TEST_CASE("tasks that an earlier run has left are cancelled") {
  Cluster cluster;
  grading::write_file_atomically(cluster.parts() / "jobs", "41\n42\n");
  cluster.leave(1, 3, true);
  const ClusterRun run(cluster.queue, cluster.store, cluster.order(1));
  CHECK(cluster.queue.cancelled == std::vector<std::string>{"41", "42"});
  CHECK_FALSE(read_state(state_file(cluster.parts(), 1)));
}
